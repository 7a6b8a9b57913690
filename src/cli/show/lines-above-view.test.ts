import { describe, expect, it } from 'vitest';
import { event, todoView } from '../../../test/support/sample-run.ts';
import type { AgentEvent } from '../../agent/agent-event.ts';
import { createLinePrinter } from './lines.ts';

function taken(...events: readonly AgentEvent[]) {
  let told = '';
  const write = (text: string): void => {
    told += text;
  };
  const printer = createLinePrinter({
    look: { columns: 80, color: false, unicode: true },
    forView: true,
    write,
  });
  for (const each of events) printer.print(each);
  const finished = (): string[] => {
    const lines = told.split('\n').slice(0, -1);
    told = '';
    return lines;
  };
  return { take: printer.print, finished, open: printer.speech };
}

const text = (piece: string): AgentEvent => event(1, { type: 'text', text: piece });
const planned = (...todos: Parameters<typeof todoView>[]): AgentEvent => {
  const views = todos.map((todo) => todoView(...todo));
  return event(1, {
    type: 'plan-changed',
    todos: views,
    completed: 0,
    total: views.length,
  });
};

describe('what stays in the scrollback', () => {
  it('C4: paragraphs that have ended, each once; the one that is still written is kept apart', () => {
    const lines = taken(text('one\n\ntwo'), text(' and\nthr'));
    expect([lines.finished(), lines.open()]).toEqual([['│ one'], 'two and\nthr']);
    expect(lines.finished()).toEqual([]);
    lines.take(text('ee\n\n'));
    expect([lines.finished(), lines.open()]).toEqual([['│', '│ two and', '│ three'], '']);
  });

  it('C4: of the plan only what came of a todo, above a line that is being written', () => {
    const lines = taken(planned(['a', 'First'], ['b', 'Second']), text('half a li'));
    lines.take(
      planned(
        ['a', 'First', { status: 'completed', verification: 'claimed' }],
        ['b', 'Second', { status: 'in_progress' }],
      ),
    );
    lines.take(text('ne '));
    lines.take(text('more\n\n'));
    lines.take(
      planned(
        ['a', 'First', { status: 'completed', verification: 'passed' }],
        ['b', 'Second', { status: 'blocked' }],
      ),
    );
    lines.take(event(2, { type: 'notice', sentence: 'x' }));
    expect(lines.finished()).toEqual([
      '  [x] First (claimed)',
      '│ half a line more',
      '  [x] First (checked)',
      '  [!] Second',
      '• x',
    ]);
  });

  it('C3: a paused run names one way to go on: the key in the living part', () => {
    const sentence =
      'Paused by you. Run `untildone resume` in another terminal to go on; Ctrl-C ends the run.';
    const lines = taken(
      event(1, { type: 'waiting', reason: 'paused-by-human', sentence, until: null }),
    );
    expect(lines.finished()).toEqual(['… waiting: Paused by you.']);
  });

  it('S7: a question stands with its answer, or at the end of the run', () => {
    const asked = event(1, {
      type: 'permission-asked',
      requestId: 'r',
      tool: 'shell',
      subject: 'npm publish',
      pattern: 'npm publish *',
      choices: ['once', 'no'],
    });
    const lines = taken(asked);
    expect(lines.finished()).toEqual([]);
    lines.take(
      event(2, {
        type: 'permission-answered',
        requestId: 'r',
        granted: false,
        remembered: 'no',
        by: 'terminal',
      }),
    );
    const told = lines.finished().join('\n');
    expect(told).toMatch(
      /permission asked: shell[\s\S]*npm publish[\s\S]*\n.*not allowed/u,
    );
  });

  it('S7: a command that is too long for the living part stands above it at once, whole', () => {
    const subject = `ls${' -a'.repeat(60)}; rm -rf ~`;
    const lines = taken(
      event(1, {
        type: 'permission-asked',
        requestId: 'r',
        tool: 'shell',
        subject,
        pattern: '',
        choices: ['no'],
      }),
    );
    expect(lines.finished().join(' ')).toContain('rm -rf ~');
  });

  it('C3: a call is told when it has ended; while it runs it stands in the living part', () => {
    const lines = taken(
      event(1, {
        type: 'tool-started',
        callId: '1',
        tool: 'shell',
        input: { command: 'ls' },
      }),
    );
    expect([lines.finished(), lines.open()]).toEqual([[], '']);
    lines.take(
      event(2, {
        type: 'tool-ended',
        callId: '1',
        tool: 'shell',
        ok: true,
        output: '',
        milliseconds: 9,
      }),
    );
    expect(lines.finished()).toEqual(['· shell ls ✓ 9 ms']);
  });
});
