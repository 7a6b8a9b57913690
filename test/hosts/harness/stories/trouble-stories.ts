// Our trouble is never the agent's: whatever is wrong with our program or the store, the host ends its turn as it would
// without us, and the reason is on the record where we got that far. And what `init` did can be undone.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { always, plan, say, script, startScriptedModel } from '../../../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts';
import { changedFiles, type FileTexts, readFileTexts } from '../file-texts.ts';
import type { Project } from '../project.ts';
import type { Breakage } from '../real-host.ts';
import { type Bench, breakProgram, createHostProject, install, type Played } from '../real-host-stage.ts';
import { untildone } from '../untildone.ts';
import type { Story } from './story.ts';

const stubborn = script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))]);

function expectFree({ continuations, turns, requests }: Played): void {
  expect(continuations).toHaveLength(0);
  expect(turns.map(({ exitCode }) => exitCode)).toEqual([0]);
  expect(requests.at(-1)?.reply.text).toBe('I am done.');
}

const broken = (how: Breakage, name: string, isSample = false): Story => ({
  id: `fail-open (${how})`,
  name,
  isSample,
  async tell(bench) {
    const played = await bench.play({
      scripts: [stubborn],
      async prepare({ project }) {
        if (how === 'hang') bench.host.shortenStop?.(project, 3);
        await breakProgram(bench, project, how);
      },
    });
    expectFree(played);
    return undefined;
  },
});

const storeOf = ({ state }: Project) => join(state, 'untildone.db');

/** @param cause returns how to end the trouble */
const trouble = (name: string, code: string, cause: (project: Project) => Promise<() => void>): Story => ({
  id: `fail-open (${code})`,
  name,
  async tell({ play }) {
    let end = () => {};
    const played = await play({
      scripts: [stubborn],
      async prepare({ project }) {
        end = await cause(project);
      },
      async drive({ say: tell }) {
        await tell('Do it.').finally(() => end());
      },
    });
    expectFree(played);
    expect(played.logged, 'on the record').toEqual([code]);
    return undefined;
  },
});

export const troubleStories: readonly Story[] = [
  broken('crash', 'our program crashes: the agent may stop', true),
  broken('garbage', 'our program answers garbage: the agent may stop'),
  broken('hang', 'our program hangs: the agent may stop'),
  trouble('the store is damaged: the agent may stop', 'store-corrupt', async (project) => {
    writeFileSync(storeOf(project), 'this is no database '.repeat(1000));
    return () => {};
  }),
  trouble('another process holds the store: the agent may stop', 'store-busy', async (project) => {
    const path = storeOf(project);
    await (await openSqliteStore({ path, clock: Date })).close();
    const database = new DatabaseSync(path);
    database.exec('BEGIN IMMEDIATE');
    return () => database.close();
  }),
  {
    id: 'init',
    name: 'init, doctor, --uninstall: doctor finds it well, and then every file is as it was, byte for byte',
    tell: installAndUndo,
  },
];

interface DoctorReport {
  readonly hosts: readonly {
    readonly host: string;
    readonly findings: readonly { readonly name: string; readonly level: string }[];
  }[];
}

async function installAndUndo({ host }: Bench): Promise<undefined> {
  const project = createHostProject(host);
  const model = await startScriptedModel({ scripts: [stubborn] });
  try {
    host.settle?.({ project, model });
    const look = (): FileTexts =>
      new Map([...readFileTexts(project.directory), ...readFileTexts(project.home)]);
    const before = look();
    await install(host, project);
    const touched = changedFiles(before, look());
    expect(touched.length).toBeGreaterThan(0);
    // It says with its exit code whether all is well, our own agent included, which has no model here.
    const said = await untildone(project, 'doctor', '--json').catch(({ stdout }) => String(stdout));
    const report = (JSON.parse(said) as DoctorReport).hosts.find((one) => one.host === host.name);
    expect(report?.findings.filter(({ level }) => level !== 'ok')).toEqual([]);
    await untildone(project, 'init', host.name, ...(host.initWords ?? []), '--uninstall');
    const different = changedFiles(before, look());
    expect(different.filter((file) => touched.includes(file))).toEqual([]);
    return undefined;
  } finally {
    await model.close();
    project.remove();
  }
}
