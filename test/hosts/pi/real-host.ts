// pi as the suite of all hosts starts it: `pi -p`, which leaves after the answer.
// Sessions that stay have tests of their own.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Breakage, RealHost } from '../harness/real-host.ts';
import { modelWords, quietEnvironment, seedHome } from './pi.ts';

const ourProgram = fileURLToPath(
  new URL('../../../dist/plugin/programs/pi-extension.js', import.meta.url),
);

export const pi: RealHost = {
  name: 'pi',
  program: 'pi',
  // The same words begin a session and take it up again.
  turn: ({ text, conversation }) => ({
    words: [...modelWords, '--session-id', conversation, '-p', text],
  }),
  environment: () => quietEnvironment,
  settle: (around) => seedHome(around),
  messages: ({ printed }) =>
    printed.split('\n').filter((line) => line.includes('untildone: ')),
  brokenProgram: (how) => brokenExtensions[how],
  installTwice({ home }) {
    const folder = join(home, '.pi', 'agent', 'extensions');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'another.js'),
      `export { default } from ${JSON.stringify(ourProgram)};\n`,
    );
  },
};

const brokenExtensions: Readonly<Record<Breakage, string>> = {
  crash: "throw new Error('The extension is broken.');\n",
  garbage: 'export default 42;\n',
  hang: 'export default () => new Promise(() => {});\n',
};
