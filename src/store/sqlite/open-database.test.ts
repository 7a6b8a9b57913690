import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadNodeSqlite } from './open-database.ts';

describe('loading node:sqlite', () => {
  it('C2: loading the module says nothing in a terminal, and other warnings still do', () => {
    const module = fileURLToPath(new URL('./open-database.ts', import.meta.url));
    const script = `
      const { loadNodeSqlite } = await import(${JSON.stringify(module)});
      loadNodeSqlite();
      process.emitWarning('SQLite is fine', 'OtherWarning');
      process.emitWarning('this one is seen', 'ExperimentalWarning');`;
    const { stderr, status } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', script],
      {
        encoding: 'utf8',
        env: { ...process.env, NODE_OPTIONS: '' },
      },
    );
    expect(status).toBe(0);
    const warnings = stderr.split('\n').filter((line) => line.includes('Warning: '));
    expect(warnings.join('\n')).toContain('OtherWarning: SQLite is fine');
    expect(warnings.join('\n')).toContain('ExperimentalWarning: this one is seen');
    expect(stderr).not.toContain('SQLite is an experimental feature');
  });

  it('C2: while it loads, only the warning about SQLite is held back', () => {
    const original = process.emitWarning;
    const load = process.getBuiltinModule;
    const seen: unknown[] = [];
    process.emitWarning = ((...warning: unknown[]) =>
      seen.push(warning)) as typeof process.emitWarning;
    const recording = process.emitWarning;
    process.getBuiltinModule = ((id: string) => {
      process.emitWarning('SQLite is an experimental feature', 'ExperimentalWarning');
      process.emitWarning('Something else is experimental', 'ExperimentalWarning');
      process.emitWarning('SQLite is deprecated', 'DeprecationWarning', 'DEP1');
      return load(id);
    }) as typeof process.getBuiltinModule;
    try {
      expect(loadNodeSqlite().DatabaseSync).toBeTypeOf('function');
      expect(process.emitWarning).toBe(recording);
    } finally {
      process.emitWarning = original;
      process.getBuiltinModule = load;
    }
    expect(seen).toEqual([
      ['Something else is experimental', 'ExperimentalWarning'],
      ['SQLite is deprecated', 'DeprecationWarning', 'DEP1'],
    ]);
  });
});
