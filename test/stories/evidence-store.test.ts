// V4 through the real `run`: rows of the store are edited while the agent works, each
// edit aimed at making unfinished work look finished. None leads to done, and each is
// found.
import { describe, expect, it } from 'vitest';
import { lookAtFiles } from '../../src/checks/fingerprint.ts';
import { countPlan, type PlanCounts } from '../../src/core/state.ts';
import { sha256 } from '../../src/engine/system.ts';
import {
  complete,
  drop,
  duplicateWrite,
  plan,
  type Step,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { editStore, type StoreEditor } from '../evidence/edit-store.ts';
import { type EvidenceStory, setStage, type Told } from '../evidence/stage.ts';

const config: NonNullable<EvidenceStory['config']> = {
  checks: {
    alpha: { file: 'alpha.txt', matches: 'good' },
    beta: { file: 'beta.txt', matches: 'good' },
  },
  todoChecks: [
    { title: '*alpha*', checks: ['alpha'] },
    { title: '*beta*', checks: ['beta'] },
  ],
};

interface Damage extends EvidenceStory {
  /** Made between two steps, just before this one begins. */
  readonly before: number;
  readonly edit: (editor: StoreEditor, state: string) => void;
}

/**
 * Plays the story with the edit, and asks the record afterwards; `state` is the
 * fingerprint of the files at first.
 */
async function damaged({
  before,
  edit,
  ...story
}: Damage): Promise<Told & { readonly verified: string; readonly found: boolean }> {
  const stage = await setStage({
    ...story,
    config: story.config ?? config,
    watch: (event, { store }) => {
      if (event.type !== 'step-started' || event.step !== before) return;
      const editor = editStore(store);
      edit(editor, state);
      editor.close();
    },
  });
  const state = (await lookAtFiles(stage.root))({ files: [] }) ?? '';
  try {
    const run = await stage.run();
    const { code, out } = await stage.command('ledger', 'verify');
    return { ...run, verified: out, found: code === 1 };
  } finally {
    await stage.close();
  }
}

const two = ['Write alpha', 'Write beta'] as const;
const half: readonly Step[] = [
  plan(...two),
  writeFile('alpha.txt', 'good'),
  complete('Write alpha'),
  say('Done.'),
];
const isBeta = (body: Record<string, unknown>): boolean => body['title'] === 'Write beta';
const anything = (): boolean => true;

const noCounts = countPlan([]);
/** Counts that an editor writes into the session, which keeps none. */
const allPassed: PlanCounts = { ...noCounts, completed: 2, passed: 2 };
const setCounts = (editor: StoreEditor, counts: PlanCounts): void =>
  editor.change('sessions', anything, (body) => ({ ...body, counts }));
const setSession = (editor: StoreEditor, changes: Record<string, unknown>): void =>
  editor.change('sessions', anything, (body) => ({ ...body, ...changes }));
const setBeta = (editor: StoreEditor, changes: Record<string, unknown>): void =>
  editor.change('todos', isBeta, (body) => ({ ...body, ...changes }));
const unplanned = (editor: StoreEditor): void =>
  editor.change('sessions', anything, (body) => ({
    ...body,
    turn: { ...(body['turn'] as object), touchedPlan: false, touchedWorkspace: false },
  }));

const passed = { status: 'completed', verification: 'passed' };
const proof = (state: string) => ({
  evidence: [{ check: 'beta', fingerprint: state, flaky: false }],
});

const edits: readonly [string, Damage['edit']][] = [
  ['a todo is set to completed and passed', (editor) => setBeta(editor, passed)],
  [
    'a todo and the counts are set to completed and passed',
    (editor, state) => {
      setBeta(editor, { ...passed, ...proof(state) });
      setCounts(editor, allPassed);
    },
  ],
  [
    'a todo loses its checks and is completed',
    (editor) => {
      setBeta(editor, { status: 'completed', verification: 'claimed', checks: [] });
      setCounts(editor, { ...noCounts, completed: 2, passed: 1, uncovered: 1 });
    },
  ],
  [
    'a todo is cancelled with a reason',
    (editor) => {
      setBeta(editor, { status: 'cancelled', reason: 'not needed' });
      setCounts(editor, { ...noCounts, completed: 1, passed: 1, cancelled: 1 });
    },
  ],
  [
    'a todo is deleted',
    (editor) => {
      editor.run("DELETE FROM todos WHERE body LIKE '%Write beta%'");
      setCounts(editor, { ...noCounts, completed: 1, passed: 1 });
    },
  ],
  [
    'a todo is deleted and the counts are not',
    (editor) => editor.run("DELETE FROM todos WHERE body LIKE '%Write beta%'"),
  ],
  [
    'a todo is moved to another plan',
    (editor) => {
      setBeta(editor, { planId: 'elsewhere' });
      setCounts(editor, { ...noCounts, completed: 1, passed: 1 });
    },
  ],
  ['the counts say that nothing is open', (editor) => setCounts(editor, allPassed)],
  ['the counts say that there is nothing', (editor) => setCounts(editor, noCounts)],
  [
    'the session is given an empty plan in a turn that did nothing',
    (editor) => {
      setSession(editor, { planId: 'empty', counts: noCounts });
      unplanned(editor);
    },
  ],
  [
    'the session becomes one that nobody watches',
    (editor) => {
      editor.change('sessions', anything, (body) => ({
        ...body,
        agent: { ...(body['agent'] as object), canWrite: 'no' },
      }));
    },
  ],
  [
    'an outcome is written into the session',
    (editor) =>
      setSession(editor, { settled: { outcome: 'done', reason: 'nothing-open', at: 1 } }),
  ],
  [
    'the session is given another policy, with its right key',
    (editor) => {
      const [row] = editor.all(
        "SELECT body FROM policies WHERE body LIKE '%goalChecks%'",
      );
      const policy = JSON.parse(String(row?.['body'])) as Record<string, unknown>;
      const text = JSON.stringify({
        ...policy,
        checks: { alpha: { ...easy, id: 'alpha' }, beta: easy },
      });
      const key = sha256(text).slice(0, 32);
      editor.run('INSERT INTO policies (hash, body) VALUES (?, ?)', key, text);
      setSession(editor, { policyHash: key });
    },
  ],
  ['the ledger is emptied', (editor) => editor.run('DELETE FROM ledger')],
  [
    'the ledger and the todos are emptied',
    (editor) => {
      editor.run('DELETE FROM ledger');
      editor.run('DELETE FROM todos');
      setCounts(editor, noCounts);
      unplanned(editor);
    },
  ],
];

const easy = {
  kind: 'file',
  id: 'beta',
  files: [],
  timeoutMs: 1000,
  path: 'untildone.json',
  expect: 'exists',
};

describe('V4: with a todo still open, an edit of the store between two steps', () => {
  it('is what these are measured by: without one the record is whole and the run is not done', async () => {
    const run = await damaged({ steps: half, before: 4, edit: () => {} });
    expect(run.ended.outcome).toBe('stagnant');
    expect(run.verified).not.toContain('BROKEN');
    expect(run.found).toBe(false);
  });

  it.each(edits)('%s: never done, and found', async (_what, edit) => {
    const run = await damaged({ steps: half, before: 4, edit });
    expect(run.ended.outcome, run.ended.sentence).not.toBe('done');
    expect(run.code).not.toBe(0);
    expect(
      run.found || run.ended.sentence.includes('changed from outside'),
      run.verified,
    ).toBe(true);
  });
});

/** The work was proved, then broken: the files are again as they were at first. */
const broken: readonly Step[] = [
  plan('Write alpha'),
  writeFile('alpha.txt', 'good'),
  complete('Write alpha'),
  writeFile('alpha.txt', 'bad'),
  say('Done.'),
];

describe('V4: with work that was proved and then broken', () => {
  const files = { 'alpha.txt': 'bad' };

  it('evidence that is moved to the present files proves nothing', async () => {
    const run = await damaged({
      files,
      steps: broken,
      before: 5,
      edit: (editor, state) =>
        editor.change('todos', anything, (body) => ({
          ...body,
          evidence: [{ check: 'alpha', fingerprint: state, flaky: false }],
        })),
    });
    // The process that works keeps its plan: it runs the check again, which fails, and
    // writes the row anew.
    expect(run.ended.outcome).toBe('stagnant');
  });

  it.each([
    [
      'made easy',
      `UPDATE policies SET body = replace(body, '"matches":"good"', '"matches":"."')`,
    ],
    ['deleted', 'DELETE FROM policies'],
  ])('a policy that is %s in the store proves nothing', async (_what, sql) => {
    const run = await damaged({
      files,
      steps: broken,
      before: 5,
      edit: (editor) => editor.run(sql),
    });
    expect(run.ended.outcome).not.toBe('done');
    expect(run.todos[0]?.verification).toBe('failed');
  });

  it('a baseline of protected paths that is edited in the store proves nothing', async () => {
    const run = await damaged({
      config: { ...config, protect: ['test/**'], goal: ['alpha'] },
      files: { 'test/a.txt': 'strict' },
      steps: [
        plan('Write alpha'),
        writeFile('test/a.txt', 'easy'),
        writeFile('alpha.txt', 'good'),
        complete('Write alpha'),
        say('Done.'),
      ],
      before: 5,
      edit: (editor) =>
        editor.run(
          `UPDATE policies SET body = '{"patterns":[],"files":{},"ignored":{}}' WHERE hash LIKE 'baseline%'`,
        ),
    });
    expect(run.ended.outcome).not.toBe('done');
  });
});

describe('V4: with all work done, an edit that only hides something', () => {
  const whole = [
    ...half.slice(0, 3),
    writeFile('beta.txt', 'good'),
    complete('Write beta'),
    say('Done.'),
  ];
  const sequence = 'SELECT max(sequence) FROM ledger';

  it('is what these are measured by: without one it is done', async () => {
    const run = await damaged({ steps: whole, before: 6, edit: () => {} });
    expect(run.ended.outcome).toBe('done');
    expect(run.found).toBe(false);
  });

  it.each<[string, Damage['edit']]>([
    [
      'an entry of the ledger is reworded',
      (editor) =>
        editor.change(
          'ledger',
          ({ sequence: at }) => at === 2,
          (body) => ({ ...body, actor: 'human' }),
        ),
    ],
    [
      'an entry in the middle is deleted',
      (editor) => editor.run('DELETE FROM ledger WHERE sequence = 3'),
    ],
    [
      'the last entry is cut off',
      (editor) => editor.run(`DELETE FROM ledger WHERE sequence = (${sequence})`),
    ],
    [
      'the last two entries are cut off',
      (editor) => editor.run(`DELETE FROM ledger WHERE sequence >= (${sequence}) - 1`),
    ],
    [
      'a todo is added',
      (editor) =>
        editor.run(
          "INSERT INTO todos (id, plan_id, session_id, turn_id, position, status, body) SELECT 'forged', plan_id, session_id, turn_id, 99, status, replace(body, id, 'forged') FROM todos LIMIT 1",
        ),
    ],
    [
      'counters are set back',
      (editor) =>
        setSession(editor, {
          counters: { stagnant: 0, continuations: 0, total: 0 },
          epoch: 99,
        }),
    ],
  ])('%s: found, and the outcome is no longer done', async (_what, edit) => {
    const run = await damaged({ steps: whole, before: 6, edit });
    expect(run.ended.outcome).toBe('claimed');
    expect(run.ended.sentence).toContain('changed from outside');
    expect(run.found).toBe(true);
  });

  it('an entry that changed no todo is missed when it is cut off, although others follow it', async () => {
    const run = await damaged({
      steps: [plan(...two), duplicateWrite(), ...whole.slice(1)],
      before: 3,
      edit: (editor) => editor.run(`DELETE FROM ledger WHERE sequence = (${sequence})`),
    });
    expect(run.ended.outcome).toBe('claimed');
    expect(run.ended.sentence).toContain('in its ledger, entry 3 is missing');
  });

  it('an open todo whose checks are swapped for one that passes gains nothing by a check that passed', async () => {
    const run = await damaged({
      steps: [...half.slice(0, 3), complete('Write beta'), say('Done.')],
      before: 4,
      edit: (editor) => setBeta(editor, { checks: ['alpha'] }),
    });
    // The process that works keeps its plan: the check that was there fails, and the row
    // is written anew.
    expect(run.ended.outcome).toBe('stagnant');
  });

  it('a todo that was dropped and settled unexplained cannot be explained afterwards', async () => {
    const steps = [
      ...half.slice(0, 3),
      drop('Write beta'),
      say('Done.'),
      drop('Write beta'),
      say('Done now.'),
    ];
    const run = await damaged({
      steps,
      before: 6,
      edit: (editor) => {
        setBeta(editor, { reason: 'the human said so' });
        setCounts(editor, { ...noCounts, completed: 1, passed: 1, cancelled: 1 });
      },
    });
    expect(run.ended.outcome).toBe('claimed');
    expect(run.found).toBe(true);
  });
});

describe('V4: with work that nothing but the agent vouches for', () => {
  const config = {};
  const whole = [
    ...half.slice(0, 3),
    writeFile('beta.txt', 'good'),
    complete('Write beta'),
    say('Done.'),
  ];

  it('is what these are measured by: without an edit it is claimed, and the record is whole', async () => {
    const run = await damaged({ config, steps: whole, before: 6, edit: () => {} });
    expect(run.ended.outcome).toBe('claimed');
    expect(run.ended.sentence).not.toContain('changed from outside');
    expect(run.found).toBe(false);
  });

  it.each<[string, Damage['edit']]>([
    [
      'a check is written beside a todo as passed',
      (editor, state) => setBeta(editor, { ...passed, ...proof(state) }),
    ],
    [
      'a todo is deleted',
      (editor) => editor.run("DELETE FROM todos WHERE body LIKE '%Write beta%'"),
    ],
    ['the ledger is emptied', (editor) => editor.run('DELETE FROM ledger')],
  ])('%s: the claim says that the record was changed', async (_what, edit) => {
    const run = await damaged({ config, steps: whole, before: 6, edit });
    expect(run.ended.outcome).toBe('claimed');
    expect(run.ended.sentence).toContain('changed from outside');
    expect(run.found).toBe(true);
  });
});
