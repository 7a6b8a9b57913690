import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createTemporaryWorkspace, outputOf } from '../../../test/support/temporary-workspace.ts';

describe('what a killed process left behind', () => {
  it('V5: goes at the next write into its folder; what a living process is writing stays', async () => {
    const { root, put, call } = createTemporaryWorkspace();
    const id = '3c95ba36-915f-46fd-b52d-9943d41ab0d3';
    const dead = spawnSync('true').pid;
    const kept = [`.untildone-${process.pid}-${id}.tmp`, '.untildone-notes.tmp'];
    for (const name of [`.untildone-${dead}-${id}.tmp`, ...kept]) put(name, 'half');
    outputOf(await call('write_file', { path: 'a.txt', content: 'whole' }));
    expect(readdirSync(root).sort()).toEqual([...kept, 'a.txt'].sort());
  });
});
