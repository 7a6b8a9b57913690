// Nothing but loopback while a host runs: a network namespace without any other way out,
// and an ear for whoever tries. A name that is looked up reaches the ear, which knows
// none; an address that is called has no route, which the kernel counts. It needs root,
// `unshare` and `ip`, and leaves nothing behind: the namespace goes with its processes.
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const enter = 'ip link set lo up && mount --bind "$0" /etc/resolv.conf && exec "$@"';

/**
 * The words that start a command inside a namespace of its own. @param folder for the
 * file that names the ear
 */
export function isolated(
  folder: string,
  command: readonly string[],
): readonly [string, ...string[]] {
  const names = join(folder, 'resolv.conf');
  writeFileSync(names, 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n');
  return ['unshare', '--net', '--mount', 'sh', '-c', enter, names, ...command];
}

/** Null: it can be. Else why not. */
export function whyNotIsolated(folder: string): string | null {
  const [program, ...words] = isolated(folder, ['true']);
  const { status, stderr, error } = spawnSync(program, words, { encoding: 'utf8' });
  return status === 0
    ? null
    : (error?.message ?? stderr.trim().split('\n')[0] ?? 'unknown');
}

export interface Ear {
  /** Sentences; empty: nobody tried to get out. */
  heard(): readonly string[];
  close(): void;
}

/** Inside the namespace, before anything else is started. */
export async function openEar(): Promise<Ear> {
  const names = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const name = nameIn(query);
    names.set(name, (names.get(name) ?? 0) + 1);
    socket.send(unknownName(query), port, address);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(53, '127.0.0.1', resolve);
  });
  const before = callsWithoutRoute();
  return {
    heard() {
      const looked = [...names].map(([name, count]) => `looked up ${name} (${count}×)`);
      const called = callsWithoutRoute() - before;
      return called === 0 ? looked : [...looked, `called addresses outside (${called}×)`];
    },
    close: () => socket.close(),
  };
}

/** The question of a DNS query: labels with their lengths, from byte 12 on. */
function nameIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; at < query.length && query[at] !== 0; at += query[at]! + 1)
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
  return labels.join('.');
}

/** The same message as an answer: no such name. */
function unknownName(query: Buffer): Buffer {
  const answer = Buffer.from(query);
  answer[2] = 0x81;
  answer[3] = 0x83;
  return answer;
}

function callsWithoutRoute(): number {
  const [names = '', values = ''] = readFileSync('/proc/self/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Ip:'));
  const place = names.split(' ').indexOf('OutNoRoutes');
  const six = /^Ip6OutNoRoutes\s+(\d+)$/m.exec(
    readFileSync('/proc/self/net/snmp6', 'utf8'),
  )?.[1];
  return Number(values.split(' ')[place]) + Number(six ?? 0);
}
