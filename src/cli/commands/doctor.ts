// `untildone doctor`: says whether untildone works here, and if not, what is missing and
// which command fixes it. It examines the hosts, calls what they would call, and checks
// what `run` needs; it changes nothing. Exit code 1: something is broken.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ownAgentName } from '../../agent/loop/run.ts';
import { resolveModel } from '../../agent/models/resolve-model.ts';
import { UntildoneError } from '../../core/error.ts';
import { problemSentence } from '../../core/problem.ts';
import { settingsForAgent } from '../../core/settings.ts';
import { type PolicyResult, policyProblemSentence } from '../../engine/policy.ts';
import { pendingSentence } from '../../engine/trust.ts';
import { hostOf, hosts as hostTable, silentWays } from '../../hosts/hosts.ts';
import { shippedFolder } from '../../hosts/install/files.ts';
import {
  brokenRow,
  type Examination,
  type Finding,
  installBasis,
  noteRow,
  okRow,
} from '../../hosts/install/installer.ts';
import { damageOf } from '../../store/sqlite/open-database.ts';
import { storePath, whyNotPrivate, whyNotWritable } from '../../store/state-directory.ts';
import { ownAgentSettings, readAgentPolicyFor } from '../agent-policy.ts';
import { type Command, jsonOption } from '../command.ts';
import { formatAge } from '../describe-time.ts';
import { examineHost, type HostReport, tellFirst } from '../examine-host.ts';
import { noSessionsYet } from '../find-session.ts';
import { type Io, programVersion } from '../io.ts';
import { withStore } from '../open-runtime.ts';
import { createPaint, escapeForTerminal, printResult } from '../print.ts';

/** Says whether `run --with` can drive the host. */
function withDriver(report: HostReport): HostReport {
  const { host, program, findings } = report;
  if (program === null || hostOf(host)?.driver === undefined) return report;
  const sentence = `\`untildone run --with ${host} "…"\` can drive it; nothing has to be installed for that.`;
  return { ...report, findings: [...findings, okRow('drive', sentence)] };
}

/**
 * Says where the end of a turn is shown, and which command shows it where the host does
 * not (C4).
 */
function withEndLine(report: HostReport): HostReport {
  const { host, title, isInstalled, findings } = report;
  const row = hostOf(host);
  if (!isInstalled || row === undefined) return report;
  const silent = silentWays(row);
  const print = row.silentAs.length === 1 ? 'prints' : 'print';
  const elsewhere =
    silent === ''
      ? ''
      : ` ${silent} ${print} none; use \`untildone status --exit-code\` there.`;
  const sentence = `When a turn ends, ${title} shows one line that says how.${elsewhere}`;
  return { ...report, findings: [...findings, okRow('end', sentence)] };
}

/** @param shipped the folder with the programs of this package */
export function createDoctor(shipped: () => string): Command {
  return {
    about: [
      'Says for every host whether it is there and of a version known to work, whether what it needs is installed,\ncomplete and allowed, and calls it once without a model. Then what `untildone run` needs: a model, its key or a local\nserver that answers, a check, a directory for its records. For what is broken or not set up it names the command.',
      'Exit code 1: something is broken.',
    ],
    options: jsonOption,
    async run(given, io) {
      const basis = installBasis(io, programVersion);
      const hosts = await Promise.all(
        hostTable.map(async ({ installer, asked }) => {
          const parts = await Promise.all([installer(), asked?.() ?? null]);
          return withEndLine(withDriver(examineHost(...parts, basis, shipped())));
        }),
      );
      const lastSeen: LastSeen = {};
      const records = await examineStore(io, hosts, lastSeen);
      const general = tellFirst([
        examineInstalls(hosts),
        ...(await examineProject(io)),
        records,
      ]);
      const allFindings = [...hosts.flatMap(({ findings }) => findings), ...general];
      const brokenCount = allFindings.filter(({ level }) => level === 'broken').length;
      const json = {
        healthy: brokenCount === 0,
        version: basis.version,
        node: process.versions.node,
        hosts: hosts.map((host) => ({ ...host, lastSeen: lastSeen[host.host] ?? null })),
        store: storePath(io.env),
        general,
        unset: general.filter(isUnset).map(({ name }) => name),
      };
      printResult(io, given.has('json'), json, () => [
        `untildone ${basis.version} on Node ${process.versions.node}`,
        ...sectionsOf(hosts, lastSeen, general, io.clock.now()).flatMap(
          ({ title, findings }) => [
            '',
            title,
            ...findings.flatMap((finding) => describeFinding(finding, io)),
          ],
        ),
        '',
        conclusion(general.filter(isUnset), brokenCount),
      ]);
      return brokenCount === 0 ? 0 : 1;
    },
  };
}

export const doctor = createDoctor(shippedFolder);

function examineInstalls(hosts: readonly HostReport[]): Examination[number] {
  if (hosts.some(({ isInstalled }) => isInstalled)) return [];
  const candidate = hosts.find(({ program }) => program !== null);
  // Nothing is broken then: the human may want nothing but `untildone run`.
  const sentence =
    'untildone is set up in no agent program here; `untildone run` needs none.';
  return [
    noteRow('installed', sentence, candidate && `untildone init ${candidate.host}`),
  ];
}

/** Not broken, but the human has to set it up before they can use it. */
const isUnset = ({ name, level }: Finding) => level === 'note' && name in unsetNames;
const unsetNames: Readonly<Record<string, string>> = {
  installed: 'an agent program (untildone init)',
  model: 'a model for untildone run',
  trust: 'your yes to untildone.json (untildone trust)',
  check: 'a check (untildone config init)',
};

async function examineProject(io: Io): Promise<Examination> {
  const result = readAgentPolicyFor(io, io.cwd);
  const name = 'configuration';
  const mend = 'untildone config';
  const warnings = result.warnings.map((warning) => [
    noteRow(name, problemSentence(warning), mend),
  ]);
  if (!result.ok) {
    const [first = ''] = result.problems.map(policyProblemSentence);
    return [[brokenRow(name, `The configuration is wrong: ${first}`, mend)], ...warnings];
  }
  const { pending, asked } = result.project;
  const { settings, goalChecks } = result.policy;
  const { mode, enabled } = settings;
  const names = goalChecks.map((check) => escapeForTerminal(check, 40)).join(', ');
  const unchecked = 'No check is set up here: finished work is `claimed`, never `done`.';
  return [
    [
      (mode === 'off' || !enabled) &&
        noteRow(name, 'untildone is switched off here.', mend),
      pending && noteRow('trust', pendingSentence(pending), 'untildone trust'),
      mode === 'observe' &&
        noteRow(
          name,
          'The mode is observe: decisions are recorded, and nothing is changed.',
        ),
      warnings.length === 0 && okRow(name, 'The configuration is right.'),
    ],
    ...warnings,
    [
      names !== '' &&
        okRow('check', `Before an agent is \`done\`, this must pass: ${names}.`),
      // A goal check that waits for a yes was already reported with the configuration.
      (asked.goal ?? []).length === 0 &&
        noteRow('check', unchecked, 'untildone config init'),
    ],
    [await examineModel(io, result)],
  ];
}

/**
 * How long a server on this machine may take to answer. Servers elsewhere are not called:
 * that could cost money and would tell them who asks.
 */
const serverMs = 2000;

async function examineModel(
  io: Io,
  { policy, origins }: Extract<PolicyResult, { ok: true }>,
): Promise<Finding> {
  const settings = settingsForAgent(
    ownAgentSettings(policy.settings, origins),
    ownAgentName,
  );
  const model = await resolveModel(null, { settings, origins, environment: io.env });
  // Somebody who uses a host may never want a model of their own.
  const level = settings.model === null ? noteRow : brokenRow;
  if (!model.ok)
    return level(
      'model',
      `\`untildone run\` without --with cannot start. ${model.error}`,
    );
  const { label, address, keyVariable } = model;
  const key = keyVariable === null ? '' : `, with the key in ${keyVariable}`;
  if (!/\/\/(?:127\.|localhost|\[::1\])/.test(address))
    return okRow(
      'model',
      `\`untildone run\` asks ${label} at ${address}${key} (not called now).`,
    );
  try {
    await fetch(address, { signal: AbortSignal.timeout(serverMs) });
    return okRow(
      'model',
      `\`untildone run\` asks ${label} at ${address}, which answers.`,
    );
  } catch {
    // Safe: the finding says that nobody answers.
    const silent = `\`untildone run\` asks ${label}, but nobody answers at ${address}.`;
    return brokenRow(
      'model',
      silent,
      'start that server, or choose another model with --model',
    );
  }
}

/**
 * Examines the store and fills in, for each host that was ever seen, when a session of it
 * last changed here, in milliseconds. It creates no store.
 */
async function examineStore(io: Io, hosts: readonly HostReport[], lastSeen: LastSeen) {
  const path = storePath(io.env);
  const state = dirname(path);
  const unwritable = whyNotWritable(state);
  const notPrivate = whyNotPrivate(state) ?? whyNotPrivate(join(state, 'bin'));
  const mend = `move ${path} (with its -wal and -shm files) away, or put a backup in its place`;
  try {
    const damage =
      unwritable === null && notPrivate === null && existsSync(path)
        ? await lookIntoStore()
        : null;
    return [
      unwritable && brokenRow('store', unwritable, 'export UNTILDONE_HOME=~/.untildone'),
      notPrivate && brokenRow('store', notPrivate),
      damage && brokenRow('store', `The store at ${path} is damaged: ${damage}.`, mend),
      existsSync(path) && okRow('store', `The store at ${path} opens and is whole.`),
      okRow(
        'store',
        `There is no store yet; the first event of a host makes ${path}. ${noSessionsYet}`,
      ),
    ];
  } catch (error) {
    if (!(error instanceof UntildoneError)) throw error;
    const isOlder = error.code === 'store-older';
    return [brokenRow('store', error.message, isOlder ? 'untildone init' : null)];
  }

  async function lookIntoStore(): Promise<string | null> {
    await withStore(io, async (store) => {
      for (const { host } of hosts) {
        const sessions = await store.sessions({ host, limit: examinedSessions });
        const newest = sessions.find(({ descriptor }) =>
          isHere(descriptor.directory, io.cwd),
        );
        if (newest !== undefined) lastSeen[host] = newest.updatedAt;
      }
    });
    return damageOf(path);
  }
}

type LastSeen = Record<string, number>;

/** How many sessions of a host are searched for one of this project. */
const examinedSessions = 200;

/** Whether the directory is this one, or lies above or below it. */
function isHere(directory: string | null, cwd: string): boolean {
  const one = `${directory}/`;
  const other = `${cwd}/`;
  return directory !== null && (one.startsWith(other) || other.startsWith(one));
}

/** A host that is neither installed nor in use gets a word, not a section. */
const isAbsent = ({ program, isInstalled }: HostReport) =>
  program === null && !isInstalled;

function sectionsOf(
  hosts: readonly HostReport[],
  lastSeen: LastSeen,
  general: readonly Finding[],
  now: number,
) {
  const absent = hosts.filter(isAbsent).map(({ title }) => title);
  const missing = noteRow('hosts', `Not found on PATH: ${absent.join(', ')}.`);
  const sections = hosts
    .filter((host) => !isAbsent(host))
    .map(({ host, title, isInstalled, findings }) => {
      const at = lastSeen[host];
      const silent = `Nothing has come from ${title} yet: give it something to do in this directory.`;
      const events = [
        at !== undefined && okRow('events', `The last event came ${formatAge(at, now)}.`),
        isInstalled && noteRow('events', silent),
      ];
      return { title, findings: [...findings, ...tellFirst([events])] };
    });
  const rest = absent.length === 0 ? general : [missing, ...general];
  return [...sections, { title: 'In general', findings: rest }];
}

function describeBroken(count: number): string {
  if (count === 0) return 'Nothing is broken.';
  return count === 1 ? '1 thing is broken.' : `${count} things are broken.`;
}

/** "Nothing is broken" alone would sound as if everything were set up. */
function conclusion(unset: readonly Finding[], brokenCount: number): string {
  const head = describeBroken(brokenCount);
  const names = unset.map(({ name }) => unsetNames[name]);
  return names.length === 0 ? head : `${head} Not set up: ${names.join(', ')}.`;
}

const colours = { ok: 'green', note: 'yellow', broken: 'red' } as const;

function describeFinding({ level, sentence, mend }: Finding, io: Io): string[] {
  const line = `  ${createPaint(io)(colours[level], level.padEnd(6))}  ${escapeForTerminal(sentence, 500)}`;
  return mend === null || level === 'ok'
    ? [line]
    : [line, `          → ${escapeForTerminal(mend, 300)}`];
}
