// Our trouble is never the agent's: whatever is wrong with our program or the store, the
// host ends its turn as it would without us, and the reason is on the record where we got
// that far. And what `init` did can be undone.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import {
  after,
  always,
  plan,
  say,
  script,
  startScriptedModel,
} from '../../../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts';
import { changedFiles, type FileTexts, readFileTexts } from '../file-texts.ts';
import type { Project } from '../project.ts';
import type { Breakage, Surroundings } from '../real-host.ts';
import {
  type Bench,
  breakProgram,
  createHostProject,
  install,
  type Played,
} from '../real-host-stage.ts';
import { untildone } from '../untildone.ts';
import { waitUntil } from '../wait-until.ts';
import type { Story } from './story.ts';

const stubborn = script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))]);

/** @param words the last of the model's: without us there may be no list to write to */
function expectFree(
  { continuations, turns, requests }: Played,
  words = 'I am done.',
): void {
  expect(continuations).toHaveLength(0);
  expect(turns.map(({ exitCode }) => exitCode)).toEqual([0]);
  expect(requests.at(-1)?.reply.text).toBe(words);
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
    expectFree(played, bench.row.hasTodoTools ? undefined : 'I have no todo tool.');
    return undefined;
  },
});

const storeOf = ({ state }: Project) => join(state, 'untildone.db');

function expectLogged(played: Played, code: string): void {
  expectFree(played);
  expect(played.logged, 'on the record').toEqual([code]);
}

export const troubleStories: readonly Story[] = [
  broken('crash', 'our program crashes: the agent may stop', true),
  broken('garbage', 'our program answers garbage: the agent may stop'),
  broken('hang', 'our program hangs: the agent may stop'),
  {
    id: 'fail-open (store-corrupt)',
    name: 'the store is damaged: the agent may stop, and why is on the record',
    async tell({ play }) {
      const damage = ({ project }: Surroundings) =>
        writeFileSync(storeOf(project), 'this is no database '.repeat(1000));
      expectLogged(await play({ scripts: [stubborn], prepare: damage }), 'store-corrupt');
      return undefined;
    },
  },
  {
    id: 'fail-open (store-busy)',
    name: 'another process holds the store at the stop: the agent may stop, and why is on the record',
    async tell({ play, host }) {
      const late = script('stubborn', [
        plan('parser', 'docs'),
        always(after(1500, say('I am done.'))),
      ]);
      const played = await play({
        scripts: [late],
        prepare: ({ project }) => host.shortenStop?.(project, 8),
        async drive({ start, model, project }) {
          const { ended } = start('Do it.');
          const isEnding = () =>
            model.requests.some(({ reply }) => reply.text === 'I am done.');
          await waitUntil('the agent is about to stop', isEnding);
          const release = await holdStore(storeOf(project));
          await ended.finally(release);
        },
      });
      expectLogged(played, 'store-busy');
      return undefined;
    },
  },
  {
    id: 'init',
    name: 'init, doctor, --uninstall: doctor finds it well, and then every file is as it was, byte for byte',
    tell: installAndUndo,
  },
];

async function holdStore(path: string): Promise<() => void> {
  // It may not be there yet: hooks that only report write beside it.
  await (await openSqliteStore({ path, clock: Date })).close();
  const database = new DatabaseSync(path, { timeout: 1000 });
  database.exec('BEGIN IMMEDIATE');
  return () => database.close();
}

interface DoctorReport {
  readonly hosts: readonly {
    readonly host: string;
    readonly findings: readonly { readonly name: string; readonly level: string }[];
  }[];
}

async function installAndUndo({ host }: Bench): Promise<undefined> {
  const model = await startScriptedModel({ scripts: [stubborn] });
  const project = createHostProject(host, model);
  try {
    host.settle?.({ project, model });
    const look = (): FileTexts =>
      new Map([...readFileTexts(project.directory), ...readFileTexts(project.home)]);
    const before = look();
    await install(host, project);
    const touched = changedFiles(before, look());
    expect(touched.length).toBeGreaterThan(0);
    // It says with its exit code whether all is well, our own agent included, which has
    // no model here.
    const said = await untildone(project, 'doctor', '--json').catch(({ stdout }) =>
      String(stdout),
    );
    const report = (JSON.parse(said) as DoctorReport).hosts.find(
      (one) => one.host === host.name,
    );
    const isNewer = process.env['UNTILDONE_LATEST_HOST'] !== undefined;
    const isExpected = ({ name, level }: { name: string; level: string }) =>
      level === 'ok' || (isNewer && name === 'host' && level === 'note');
    expect(report?.findings.filter((one) => !isExpected(one))).toEqual([]);
    await untildone(project, 'init', host.name, ...(host.initWords ?? []), '--uninstall');
    const different = changedFiles(before, look());
    expect(different.filter((file) => touched.includes(file))).toEqual([]);
    return undefined;
  } finally {
    await model.close();
    project.remove();
  }
}
