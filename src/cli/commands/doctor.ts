// `untildone doctor`: does it work here, and if not, what is missing and the command that fixes it. It looks at the
// hosts, calls what they would call, and at what `run` needs; it changes nothing. Exit code 1: something is broken.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ownAgentName } from '../../agent/loop/run.ts';
import { resolveModel } from '../../agent/models/resolve-model.ts';
import { UntildoneError } from '../../core/error.ts';
import { settingsForAgent } from '../../core/settings.ts';
import { type PolicyResult, policyProblemSentence } from '../../engine/policy.ts';
import { pendingSentence } from '../../engine/trust.ts';
import { hosts as hostTable } from '../../hosts/hosts.ts';
import { shippedFolder } from '../../hosts/install/files.ts';
import {
  broken,
  examineHost,
  type Finding,
  type HostReport,
  installBasis,
  note,
  ok,
} from '../../hosts/install/installer.ts';
import { damageOf } from '../../store/sqlite/open-database.ts';
import { storePath, whyNotPrivate, whyNotWritable } from '../../store/state-directory.ts';
import { ownAgentSettings, readAgentPolicyFor } from '../agent-policy.ts';
import { type Command, jsonOption } from '../command.ts';
import { formatAge } from '../describe-time.ts';
import { noSessionsYet } from '../find-session.ts';
import type { Io } from '../io.ts';
import { programVersion } from '../io.ts';
import { withStore } from '../open-runtime.ts';
import { count, createPaint, shown, tell } from '../print.ts';

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
      const installers = await Promise.all(hostTable.map((host) => host.installer()));
      const hosts = installers.map((installer) => examineHost(installer, basis, shipped()));
      const lastSeen: LastSeen = {};
      const store = await examineStore(io, hosts, lastSeen);
      const unwritable = whyNotWritable(basis.stateDirectory);
      const records = unwritable === null ? store : broken('store', unwritable, remedy);
      const general = [...examineInstalls(hosts), ...(await examineProject(io)), records];
      const all = [...hosts.flatMap(({ findings }) => findings), ...general];
      const brokenCount = all.filter(({ level }) => level === 'broken').length;
      const json = {
        ...{ healthy: brokenCount === 0, version: basis.version, node: process.versions.node },
        hosts: hosts.map((host) => ({ ...host, lastSeen: lastSeen[host.host] ?? null })),
        ...{ store: storePath(io.env), general, unset: general.filter(isUnset).map(({ name }) => name) },
      };
      tell(io, given.has('json'), json, () => [
        `untildone ${basis.version} on Node ${process.versions.node}`,
        ...hostLines(hosts, lastSeen, io),
        ...general.flatMap((finding) => describe(finding, io)),
        '',
        conclusion(general.filter(isUnset), brokenCount),
      ]);
      return brokenCount === 0 ? 0 : 1;
    },
  };
}

export const doctor = createDoctor(shippedFolder);

function examineInstalls(hosts: readonly HostReport[]): Finding[] {
  if (hosts.some(({ isInstalled }) => isInstalled)) return [];
  const candidate = hosts.find(({ program }) => program !== null);
  const sentence = 'untildone is set up in no agent program here';
  // Whoever has no host uses `untildone run`, which needs none: nothing is broken then.
  return candidate === undefined
    ? [note('installed', `${sentence}; \`untildone run\` needs none.`)]
    : [broken('installed', `${sentence}.`, `untildone init ${candidate.host}`)];
}

/** Not broken, but whoever wants it has something to type first. */
const isUnset = ({ name, level }: Finding) => level === 'note' && name in unsetNames;
const unsetNames: Readonly<Record<string, string>> = {
  installed: 'an agent program (untildone init)',
  model: 'a model for untildone run',
  check: 'a check (untildone config init)',
};
const remedy = 'export UNTILDONE_HOME=~/.untildone';

async function examineProject(io: Io): Promise<Finding[]> {
  const result = readAgentPolicyFor(io, io.cwd);
  const configuration = describeConfiguration(result);
  if (!result.ok) return [configuration];
  const names = result.policy.goalChecks.map((name) => shown(name, 40)).join(', ');
  const none = 'No check is set up here: finished work is `claimed`, never `done`.';
  // One that waits for a yes was told with the configuration.
  const isPending = (result.project.asked.goal ?? []).length > 0;
  const check =
    names === ''
      ? note('check', none, 'untildone config init')
      : ok('check', `Before an agent is \`done\`, this must pass: ${names}.`);
  return [configuration, ...(names === '' && isPending ? [] : [check]), await examineModel(io, result)];
}

/** As long as a server on this machine may take; one elsewhere is not asked: it would cost, and it would be told who asks. */
const serverMs = 2000;

async function examineModel(
  io: Io,
  { policy, origins }: Extract<PolicyResult, { ok: true }>,
): Promise<Finding> {
  const settings = settingsForAgent(ownAgentSettings(policy.settings, origins), ownAgentName);
  const model = await resolveModel(null, { settings, origins, environment: io.env });
  // Who has a host may never want one.
  if (!model.ok)
    return (settings.model === null ? note : broken)(
      'model',
      `\`untildone run\` cannot start. ${model.error}`,
    );
  const { label, address, keyVariable } = model;
  const key = keyVariable === null ? '' : `, with the key in ${keyVariable}`;
  if (!/\/\/(?:127\.|localhost|\[::1\])/.test(address))
    return ok('model', `\`untildone run\` asks ${label} at ${address}${key} (not called now).`);
  try {
    await fetch(address, { signal: AbortSignal.timeout(serverMs) });
    return ok('model', `\`untildone run\` asks ${label} at ${address}, which answers.`);
  } catch {
    // Safe: that nobody answers is what is told.
    return broken(
      'model',
      `\`untildone run\` asks ${label}, but nobody answers at ${address}.`,
      'start that server, or choose another model with --model',
    );
  }
}

function describeConfiguration(result: PolicyResult): Finding {
  if (!result.ok) {
    const [first] = result.problems;
    const sentence = first === undefined ? 'is wrong' : policyProblemSentence(first);
    return broken('configuration', `The configuration is wrong: ${sentence}`, 'untildone config');
  }
  const { mode, enabled } = result.policy.settings;
  if (mode === 'off' || !enabled)
    return note('configuration', 'untildone is switched off here.', 'untildone config');
  const { pending } = result.project;
  if (pending !== null) return note('configuration', pendingSentence(pending), 'untildone trust');
  return mode === 'observe'
    ? note('configuration', 'The mode is observe: decisions are recorded, and nothing is changed.')
    : ok('configuration', 'The configuration is right.');
}

/** Fills in when a session of each host last changed here, in milliseconds; of hosts that were ever seen. It creates no store. */
async function examineStore(io: Io, hosts: readonly HostReport[], lastSeen: LastSeen): Promise<Finding> {
  const path = storePath(io.env);
  const state = dirname(path);
  const open = whyNotPrivate(state) ?? whyNotPrivate(join(state, 'bin'));
  if (open !== null) return broken('store', open, 'see the sentence above');
  if (!existsSync(path))
    return ok('store', `There is no store yet; the first event of a host makes ${path}. ${noSessionsYet}`);
  try {
    await withStore(io, async (store) => {
      for (const { host } of hosts) {
        const sessions = await store.sessions({ host, limit: lookedAt });
        const newest = sessions.find(({ descriptor }) => isHere(descriptor.directory, io.cwd));
        if (newest !== undefined) lastSeen[host] = newest.updatedAt;
      }
    });
    const damage = await damageOf(path);
    if (damage === null) return ok('store', `The store at ${path} opens and is whole.`);
    const mend = `move ${path} (with its -wal and -shm files) away, or put a backup in its place`;
    return broken('store', `The store at ${path} is damaged: ${damage}.`, mend);
  } catch (error) {
    if (!(error instanceof UntildoneError)) throw error;
    return broken('store', error.message, 'see the sentence above');
  }
}

type LastSeen = Record<string, number>;

/** Sessions of a host that are looked through for one of this project. */
const lookedAt = 200;

/** In this directory, or in one above or below it. */
function isHere(directory: string | null, cwd: string): boolean {
  if (directory === null) return false;
  return directory === cwd || directory.startsWith(`${cwd}/`) || cwd.startsWith(`${directory}/`);
}

function hostLines(hosts: readonly HostReport[], lastSeen: LastSeen, io: Io): string[] {
  const seen = ({ host, title, isInstalled }: HostReport): Finding[] => {
    const at = lastSeen[host];
    if (at !== undefined) return [ok('events', `The last event came ${formatAge(at, io.clock.now())}.`)];
    const silent = `Nothing has come from ${title} yet: give it something to do in this directory.`;
    return isInstalled ? [note('events', silent)] : [];
  };
  // A host that is neither there nor in use is worth a word, not a section.
  const absent = hosts.filter(({ program, isInstalled }) => program === null && !isInstalled);
  const present = hosts.filter((host) => !absent.includes(host));
  const missing = `Not found on PATH: ${absent.map(({ title }) => title).join(', ')}.`;
  return [
    ...present.flatMap((host) => [
      ...['', host.title],
      ...[...host.findings, ...seen(host)].flatMap((one) => describe(one, io)),
    ]),
    ...['', 'In general'],
    ...(absent.length === 0 ? [] : describe(note('hosts', missing), io)),
  ];
}

/** "Nothing is broken" alone would say that all of it works. */
function conclusion(unset: readonly Finding[], brokenCount: number): string {
  const head =
    brokenCount === 0
      ? 'Nothing is broken'
      : `${count(brokenCount, 'thing')} ${brokenCount === 1 ? 'is' : 'are'} broken`;
  const names = unset.map(({ name }) => unsetNames[name]);
  return names.length === 0 ? `${head}.` : `${head}. Not set up: ${names.join(', ')}.`;
}

const colours = { ok: 'green', note: 'yellow', broken: 'red' } as const;

function describe({ level, sentence, mend }: Finding, io: Io): string[] {
  const paint = createPaint(io);
  const line = `  ${paint(colours[level], level.padEnd(6))}  ${shown(sentence, 500)}`;
  return mend === null || level === 'ok' ? [line] : [line, `          → ${shown(mend, 300)}`];
}
