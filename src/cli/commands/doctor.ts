// `untildone doctor`: does it work here, and if not, what is missing and the command that mends it. It looks at the
// hosts, their settings, the configuration and the store, and changes nothing. Exit code 1: something is broken.

import { policyProblemSentence } from '../../engine/policy.ts';
import { pendingSentence } from '../../engine/trust.ts';
import { hosts as hostTable } from '../../hosts/hosts.ts';
import { shippedFolder } from '../../hosts/install/files.ts';
import {
  broken,
  examineHost,
  type Finding,
  type HostReport,
  note,
  ok,
} from '../../hosts/install/installer.ts';
import { readAgentPolicyFor } from '../agent-policy.ts';
import { type Command, jsonOption } from '../command.ts';
import { formatAge } from '../describe-time.ts';
import { examineStore, type StoreReport } from '../examine-store.ts';
import { installBasis } from '../install-request.ts';
import type { Io } from '../io.ts';
import { count, createPaint, printJson, printLines, shown } from '../print.ts';

/** @param shipped the folder with the programs of this package */
export function createDoctor(shipped: () => string): Command {
  return {
    usage: 'doctor [--json]',
    about: [
      'Says for every host whether it is there and of a version known to work, whether what it needs is installed,\ncomplete and allowed, whether the model has todo tools, and whether the store is whole; and for what is broken, the\ncommand that mends it. Exit code 1: something is broken.',
    ],
    options: jsonOption,
    positionals: [0, 0],
    async run(given, io) {
      const basis = installBasis(io);
      const installers = await Promise.all(hostTable.map((host) => host.installer()));
      const hosts = installers.map((installer) => examineHost(installer, basis, shipped()));
      const store = await examineStore(
        io,
        hosts.map(({ host }) => host),
      );
      const general = [...examineInstalls(hosts), examineConfiguration(io), store.finding];
      const all = [...hosts.flatMap(({ findings }) => findings), ...general];
      const brokenCount = all.filter(({ level }) => level === 'broken').length;
      if (given.has('json')) {
        printJson(io, {
          ...{ healthy: brokenCount === 0, version: basis.version, node: process.versions.node },
          hosts: hosts.map((host) => ({ ...host, lastSeen: store.lastSeen[host.host] ?? null })),
          ...{ store: store.path, general },
        });
      } else printLines(io, lines(hosts, general, store, brokenCount, basis.version, io));
      return brokenCount === 0 ? 0 : 1;
    },
  };
}

export const doctor = createDoctor(shippedFolder);

function examineInstalls(hosts: readonly HostReport[]): Finding[] {
  if (hosts.some(({ isInstalled }) => isInstalled)) return [];
  const candidate = hosts.find(({ program }) => program !== null);
  // Whoever has no host uses `untildone run`, which needs none: nothing is broken then.
  return candidate === undefined
    ? [note('installed', 'No host is watched from here; `untildone run` needs none.')]
    : [broken('installed', 'No host is watched from here.', `untildone init ${candidate.host}`)];
}

function examineConfiguration(io: Io): Finding {
  const result = readAgentPolicyFor(io, io.cwd);
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
    : ok('configuration', 'The configuration holds.');
}

function lines(
  hosts: readonly HostReport[],
  general: readonly Finding[],
  { lastSeen }: StoreReport,
  brokenCount: number,
  version: string,
  io: Io,
): string[] {
  const seen = (host: HostReport): Finding[] => {
    const at = lastSeen[host.host];
    if (at !== undefined) return [ok('events', `The last event came ${formatAge(at, io.clock.now())}.`)];
    if (!host.isInstalled) return [];
    return [
      note('events', `No event has come from ${host.title} yet: give it something to do in this directory.`),
    ];
  };
  // A host that is neither there nor in use is worth a word, not a section.
  const absent = hosts.filter(({ program, isInstalled }) => program === null && !isInstalled);
  const present = hosts.filter((host) => !absent.includes(host));
  return [
    `untildone ${version} on Node ${process.versions.node}`,
    ...present.flatMap((host) => [
      '',
      host.title,
      ...[...host.findings, ...seen(host)].flatMap((one) => describe(one, io)),
    ]),
    '',
    'In general',
    ...(absent.length === 0 ? [] : describe(notFound(absent), io)),
    ...general.flatMap((finding) => describe(finding, io)),
    '',
    brokenCount === 0
      ? 'Nothing is broken.'
      : `${count(brokenCount, 'thing')} ${brokenCount === 1 ? 'is' : 'are'} broken.`,
  ];
}

function notFound(absent: readonly HostReport[]): Finding {
  return note('hosts', `Not found on PATH: ${absent.map(({ title }) => title).join(', ')}.`);
}

const colours = { ok: 'green', note: 'yellow', broken: 'red' } as const;

function describe({ level, sentence, mend }: Finding, io: Io): string[] {
  const paint = createPaint(io);
  const line = `  ${paint(colours[level], level.padEnd(6))}  ${shown(sentence, 500)}`;
  return mend === null || level === 'ok' ? [line] : [line, `          → ${shown(mend, 300)}`];
}
