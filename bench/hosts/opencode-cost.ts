// What the plugin costs in the real OpenCode, as ratios within one interleaved run: from
// idle to injection beyond the countdown, beside a bare plugin that injects at once; CPU
// that it adds to the start of the host, and installed size, both beside the best-known
// plugin of this kind, which is installed into a temporary folder and only measured.
// Usage: npm run bench -- opencode [ROUNDS]
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installHost } from '../../test/hosts/harness/install-host.ts';
import { ourPlugin } from '../../test/hosts/opencode/opencode.ts';
import { createInjectionMeter } from './idle-to-injection.ts';
import { type Installed, installInto } from './installed-size.ts';
import { createStartMeter } from './start-cpu.ts';

const rounds = Number(process.argv[2] ?? 7);
const peer = { name: 'oh-my-opencode', version: '4.19.4' };
const root = fileURLToPath(new URL('../..', import.meta.url));
const barePlugin = fileURLToPath(
  new URL('../../test/hosts/opencode/bare-plugin.ts', import.meta.url),
);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** In turns, so that a busy machine slows both alike. */
async function compareInjection(): Promise<void> {
  const countdownMs = 300;
  const meter = await createInjectionMeter(countdownMs);
  const ours: number[] = [];
  const bare: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      ours.push(...(await meter.measure(ourPlugin)).map((gap) => gap - countdownMs));
      bare.push(...(await meter.measure(barePlugin)));
    }
  } finally {
    await meter.close();
  }
  const a = median(ours);
  const b = median(bare);
  print(
    `from the end of the answer to the injection (${ours.length} and ${bare.length} continuations):`,
  );
  print(
    `  ours ${a.toFixed(0)} ms beyond the countdown, a bare plugin ${b.toFixed(0)} ms: ${(a / b).toFixed(2)} of bare`,
  );
}

async function compareStart(others: Installed): Promise<void> {
  const plugins = { none: [], ours: [ourPlugin], peer: [others.entry] };
  const seen: Record<keyof typeof plugins, number[]> = { none: [], ours: [], peer: [] };
  const meter = await createStartMeter();
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const name of ['none', 'ours', 'peer'] as const) {
        const { milliseconds, commands } = await meter.measure(plugins[name]);
        seen[name].push(milliseconds);
        if ((name === 'ours') !== commands.includes('untildone-status'))
          throw new Error(`${name}: the wrong plugin was measured.`);
      }
    }
  } finally {
    await meter.close();
  }
  const base = median(seen.none);
  const ours = median(seen.ours) - base;
  const theirs = median(seen.peer) - base;
  print(
    `CPU that a new host takes to open a folder, ${rounds} starts each: ${base.toFixed(0)} ms without a plugin`,
  );
  print(
    `  ours adds ${ours.toFixed(0)} ms, ${peer.name} ${peer.version} adds ${theirs.toFixed(0)} ms: ${Math.max(0, ours / theirs).toFixed(3)} of it (aim: at most 0.1)`,
  );
}

function compareSize(own: Installed, others: Installed): void {
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  const alone = statSync(ourPlugin).size;
  print('installed size, with everything that comes along:');
  print(
    `  ours ${megabytes(own.bytes)} MB, ${peer.name} ${megabytes(others.bytes)} MB: ${(own.bytes / others.bytes).toFixed(4)} of it (aim: at most 0.01)`,
  );
  print(
    `  the plugin alone, as init copies it: ${megabytes(alone)} MB, ${(alone / others.bytes).toFixed(4)} of it`,
  );
}

installHost('opencode');
const own = installInto(root, 'untildone', 'dist/plugin/programs/server.js');
const others = installInto(`${peer.name}@${peer.version}`, peer.name, 'dist/index.js');
try {
  compareSize(own, others);
  await compareStart(others);
  await compareInjection();
} finally {
  own.remove();
  others.remove();
}
