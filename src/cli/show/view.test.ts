import displayWidth from 'fast-string-width';
import { renderToString } from 'ink';
import { createElement, Fragment } from 'react';
import { describe, expect, it } from 'vitest';
import { event, sampleRun, todoView } from '../../../test/support/sample-run.ts';
import type { AgentEvent } from '../../agent/agent-event.ts';
import type { ViewEvent } from './events.ts';
import { createPage } from './page.ts';
import { createState, reduceView, type ViewState } from './state.ts';
import { drawLiving } from './view.ts';

interface Look {
  readonly columns?: number;
  readonly rows?: number;
  readonly color?: boolean;
  readonly unicode?: boolean;
  readonly kind?: ViewState['kind'];
  readonly speech?: string;
  readonly changes?: Partial<ViewState>;
}

/** The living part as Ink lays it out. */
function drawn(events: readonly ViewEvent[], look: Look = {}): string[] {
  const {
    columns = 80,
    rows = 24,
    color = false,
    unicode = true,
    kind = 'run',
    speech = '',
    changes,
  } = look;
  const size = { type: 'resized', columns, rows } as const;
  const state = [size, ...events].reduce<ViewState>(reduceView, createState(kind, 0));
  const page = createPage({ columns, color, unicode }, 1);
  const living = drawLiving(page, { ...state, ...changes }, speech);
  return renderToString(createElement(Fragment, null, living), { columns }).split('\n');
}

const todos = Array.from({ length: 500 }, (_, index) =>
  todoView(`${index}`, `Todo ${index + 1}`, {
    status: index === 3 ? 'in_progress' : 'pending',
  }),
);
const bigPlan = event(1, { type: 'plan-changed', todos, completed: 0, total: 500 });
const held = event(2, { type: 'text-held', text: 'All done!\nEverything passes.' });
const running = event(2, {
  type: 'tool-started',
  callId: '1',
  tool: 'shell',
  input: { command: 'npm test' },
});
const wait = event(2, {
  type: 'waiting',
  reason: 'rate-limited',
  sentence: 'The provider limits the rate.',
  until: held.at + 42_000,
});
const asked = event(2, {
  type: 'permission-asked',
  requestId: '7',
  tool: 'shell',
  subject: 'npm publish --tag next',
  pattern: 'npm publish *',
  choices: ['once', 'session', 'always', 'no'],
});
const check = event(2, { type: 'check-started', check: 'npm test', todoId: null });
const worker = event(2, {
  type: 'worker-started',
  workerId: 'w',
  agentType: 'coder',
  todoId: '3',
  title: 'Write the parser',
});
const everything: readonly AgentEvent[] = [
  bigPlan,
  worker,
  running,
  check,
  held,
  asked,
  wait,
];

describe('the living part', () => {
  it('C3: shows the plan with a bar, the current todo and how far it is', () => {
    const lines = drawn([bigPlan]);
    expect(lines).toContain('plan [░░░░░░░░] 0/500 todos 2-9 of 500');
    expect(lines).toContain('  [>] Todo 4');
    expect(lines).not.toContain('  [ ] Todo 1');
  });

  it('I1: shows held text behind its margin, and says that it is being decided about', () => {
    const lines = drawn([held]);
    expect(lines).toContain('│ All done!');
    expect(lines).toContain('│ Everything passes.');
    expect(lines.join('\n')).toContain('deciding about the answer');
    expect(drawn([held], { color: true }).join('\n')).toContain('\u001b[2m│ All done!');
  });

  it('C3: shows running calls, checks and workers with how long they take', () => {
    const text = drawn([
      worker,
      running,
      check,
      { type: 'tick', at: held.at + 3000 },
    ]).join('\n');
    expect(text).toMatch(/\S shell 3\.0 s npm test/);
    expect(text).toMatch(/\S check 3\.0 s npm test/);
    expect(text).toMatch(/\S worker coder step 0, 3\.0 s Write the parser/);
  });

  it('C3: folds calls to a line and unfolds the last ones with what went in and came out', () => {
    const ended = event(3, {
      type: 'tool-ended',
      callId: '1',
      tool: 'shell',
      ok: true,
      output: 'a\nb\nc\nd',
      milliseconds: 9,
    });
    expect(drawn([running, ended]).join('\n')).not.toContain('npm test');
    const lines = drawn([running, ended], { changes: { isExpanded: true } });
    expect(lines.join('\n')).toContain(
      '· shell npm test ✓ 9 ms\n    in: {"command":"npm test"}\n    a\n    b\n    c\n    d',
    );
  });

  it('C3: counts a wait down and says which key ends it', () => {
    expect(drawn([wait]).join('\n')).toContain(
      '… 42 s press any key to pause\n  The provider limits the rate.',
    );
  });

  it('S7: shows what is asked, what a lasting answer would cover, and dims the keys until they count', () => {
    const lines = drawn([asked]);
    expect(lines.join('\n')).toContain(
      '… permission asked: shell\n  │ npm publish --tag next\n  s or a would allow: npm publish *\n  [y] once  [s] for this session  [a] always in this folder  [n] no',
    );
    const later: ViewEvent = { type: 'tick', at: asked.at + 1000 };
    expect(drawn([asked], { color: true }).join('\n')).toContain('\u001b[2m[y] once');
    expect(drawn([asked, later], { color: true }).join('\n')).toContain(
      '\u001b[1m[y] once',
    );
  });

  it('S7: shows a pattern whole, however narrow the terminal is', () => {
    const long = {
      ...asked,
      pattern: `npm run ${'deploy-'.repeat(6)}all *`,
    } as AgentEvent;
    const text = drawn([long], { columns: 40 }).join('').replace(/\s+/gu, '');
    expect(text).toContain(`wouldallow:npmrun${'deploy-'.repeat(6)}all*`);
  });

  it.each([
    [
      'a title that swallows it',
      'echo ok \u001b]0; touch b; echo \u0007',
      'echo ok \\x1b]0; touch b; echo \\x07',
    ],
    [
      'a line that is written over',
      'touch b\rnpm\u202e test',
      'touch b\\rnpm\\u202e test',
    ],
  ])('S7: %s is shown and not stripped from what is asked', (_name, subject, visible) => {
    const text = drawn([
      { ...asked, subject, pattern: `= ${subject}` } as AgentEvent,
    ]).join('\n');
    expect(text).toContain(
      `… permission asked: shell\n  │ ${visible}\n  It holds characters`,
    );
    expect(text).toContain(`s or a would allow: exactly ${visible}`);
    expect(text).not.toContain('only part of it');
  });

  it('S7: blanks are shown as many as they are: what is to be allowed is not tidied up', () => {
    const subject = 'rm -rf "a  b"   c';
    expect(drawn([{ ...asked, subject } as AgentEvent])).toContain(`  │ ${subject}`);
  });

  it('S7: a long command is not repeated by its keys, so that the question fits', () => {
    const subject = Array.from({ length: 30 }, (_, index) => `echo ${index}`).join('\n');
    const lines = drawn([{ ...asked, subject, pattern: `= ${subject}` } as AgentEvent], {
      rows: 24,
    });
    expect(lines).toContain('… permission asked: shell');
    expect(lines).toContain('  │ echo 1');
    expect(lines).toContain('  This is only part of it; all of it is above.');
    expect(lines).toContain('  s or a would allow: exactly this command');
  });

  it('C3: says that it stops, after the step or at once', () => {
    expect(drawn([{ type: 'stop-asked', how: 'after-step' }]).join('\n')).toContain(
      'Ctrl-C again stops at once',
    );
    expect(drawn([{ type: 'stop-asked', how: 'now' }]).join('\n')).toContain(
      'stopping at once',
    );
  });

  it('shows tokens, cost, steps and continuations', () => {
    const text = drawn(sampleRun.slice(0, -1), { columns: 120 }).join('\n');
    expect(text).toContain('sent back 2 times · 48.2k in, 2.3k out · $0.2184');
  });

  it.each([
    [80, 24],
    [40, 12],
    [20, 8],
    [200, 60],
    [40, 3],
    [1, 1],
  ])('C3: everything at once fits %i columns and %i rows', (columns, rows) => {
    for (const unicode of [true, false])
      for (const kind of ['run', 'attach'] as const) {
        const wide = todos.map((todo) => ({
          ...todo,
          title: `修复解析器 👩‍👩‍👧 ${todo.title} 한국어`.repeat(4),
        }));
        const events = [...everything, { ...bigPlan, todos: wide } as AgentEvent];
        const lines = drawn(events, { columns, rows, unicode, kind, speech: 'open' });
        expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
        const widest = Math.max(...lines.map((line) => displayWidth(line)));
        expect(widest).toBeLessThanOrEqual(Math.max(20, columns));
      }
  });

  it('needs nothing but ASCII where the locale is not UTF-8', () => {
    expect(drawn(everything, { unicode: false }).join('\n')).toMatch(/^[\n\x20-\x7e]*$/);
  });

  it('C3: what matters most is cut last: the question before the plan, the plan before what runs', () => {
    const lines = drawn(everything, { rows: 12 });
    expect(lines.join('\n')).toContain('… permission asked: shell');
    expect(lines.at(-1)).toContain('Ctrl-C stops');
  });
});
