// Must hold 3 of the library: what a program loads that imports it, read from Node's
// loader, with the files as the build writes them.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { otherEntries } from './support/library-entries.ts';
import { bundleLibrary } from './support/loaded-library.ts';

let built: Awaited<ReturnType<typeof bundleLibrary>>;
beforeAll(async () => {
  built = await bundleLibrary();
}, 120_000);

const from = (folder: string, name: string) => JSON.stringify(join(folder, `${name}.js`));

describe('Library 3: nothing of the command line is loaded', () => {
  it.each(otherEntries)('by untildone/$output', ({ output }) => {
    expect(built.ofEntry(output)).toEqual([]);
  });

  it('by a session that is opened, holds an agent to a check and is closed', () => {
    const { base, library, superfluous } = built;
    const held = `
      import { writeFileSync } from 'node:fs';
      import { openSession } from ${from(library, 'index')};
      const check = 'test -f made.txt';
      const session = await openSession({ goal: 'Build it.', checks: [check], store: ':memory:' });
      await session.tools.create_todo.execute({ items: [{ title: 'Write it' }] });
      await session.hold(async () => {
        writeFileSync('made.txt', 'made');
        await session.tools.complete_todo.execute({ todoId: session.plan[0].id, outcome: 'written' });
        return 'Done.';
      });
      if (session.outcome !== 'done') throw new Error('It ended as ' + session.outcome);
      await session.close();`;
    expect(superfluous(held)).toEqual([]);
    // So does a bundle that somebody else makes of it.
    const outfile = join(base, 'bundled', 'held.mjs');
    const options = {
      bundle: true,
      format: 'esm',
      platform: 'node',
      logLevel: 'error',
    } as const;
    buildSync({ ...options, stdin: { contents: held, resolveDir: base }, outfile });
    rmSync(join(base, 'made.txt'));
    expect(superfluous(`await import(${JSON.stringify(outfile)});`)).toEqual([]);
  });

  it('and if it were, that would be seen: in a shared file, late, or as a package', () => {
    const { library, view, superfluous } = built;
    expect(superfluous(`await import(${from(view, 'live-view')});`)).toContain(
      'src/cli/show/live-view.ts',
    );
    expect(
      superfluous(`setTimeout(() => import(${from(view, 'live-view')}));`).join(),
    ).toContain('/react/');
    const planted = join(library, 'planted.js');
    writeFileSync(planted, "import './index.js';\nimport 'ai';\n");
    expect(superfluous(`await import(${JSON.stringify(planted)});`)).toEqual(['ai']);
  });
});
