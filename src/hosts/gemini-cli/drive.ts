// Drives Gemini CLI for `run --with gemini-cli`: headless, with a stream of JSON lines.
// The host takes neither hooks nor servers for one run alone, since settings of the
// system count only if root owns the file and every folder above it. After `init
// gemini-cli` our hooks act; without it the driver alone holds the agent.
import { existsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { DriveFact, DriveStart, HostDriver } from '../../engine/host-driver.ts';
import * as driver from '../driver.ts';
import { type Fields, recordOf, textOf } from '../untrusted.ts';
import { hostName, todoTool } from './host.ts';
import { geminiInstaller, policy } from './install.ts';

const { title, program, howToGet } = geminiInstaller;
const modes = { 'read-only': 'plan', edit: 'auto_edit', auto: 'yolo' } as const;

/**
 * The host offers its list of todos only with a policy. A policy that we name replaces
 * the user's own, so we name one only if the user has none.
 */
function policyWords({ scratch, environment, mode }: DriveStart): string[] {
  const home = environment['GEMINI_CLI_HOME'] || environment['HOME'] || homedir();
  const path = join(scratch, 'untildone.toml');
  if (mode !== 'edit' || existsSync(join(home, '.gemini', 'policies'))) return [];
  writeFileSync(path, policy);
  return ['--policy', path];
}

const unknown = driver.unknownIf(
  /^Error resuming session: (?:Invalid session identifier|No previous sessions)/u,
);

function readErrors(line: string): driver.Facts {
  const [, attempt, status = 'no connection'] =
    /^Attempt (\d+) failed(?: with status (\d+))?.*Retrying with backoff/u.exec(line) ??
    [];
  if (attempt === undefined) return unknown(line);
  const sentence = `The model did not answer (${status}); Gemini CLI tries again (${attempt}).`;
  return [{ type: 'retrying', sentence, inMs: 0 }];
}

function createReaders(): driver.Readers {
  /** The text of the current answer, which comes in pieces. */
  let spoken = '';
  let isAnswering = false;

  function beginStep({ timestamp }: Fields): driver.Facts {
    if (isAnswering) return [];
    isAnswering = true;
    return [{ type: 'step', id: String(timestamp) }];
  }

  /** Ends the answer, because something else follows it. */
  function endAnswer(): driver.Facts {
    const text = spoken;
    spoken = '';
    isAnswering = false;
    return driver.joinSpokenText(text);
  }

  return {
    init: ({ session_id }) => driver.conversationOf(session_id),
    message(line) {
      if (line['role'] !== 'assistant') return [];
      const begun = beginStep(line);
      spoken += textOf(line['content']) ?? '';
      return begun;
    },
    tool_use(line) {
      const { tool_id, tool_name, parameters } = line;
      const { todos } = recordOf(parameters);
      const started = driver.toolStarted(tool_id, tool_name, recordOf(parameters));
      if (started.length === 0) return [];
      const facts: DriveFact[] = [...beginStep(line), ...endAnswer(), ...started];
      // More calls of the same answer may follow.
      isAnswering = true;
      if (tool_name !== todoTool || !Array.isArray(todos)) return facts;
      const listed = todos.map(recordOf).map(({ description, status }) => {
        return {
          key: null,
          title: textOf(description) ?? '',
          status: textOf(status) || 'pending',
        };
      });
      return [...facts, { type: 'todos', todos: listed }];
    },
    tool_result({ tool_id, status, output, error }) {
      isAnswering = false;
      const text = textOf(output) ?? textOf(recordOf(error)['message']);
      return driver.toolEnded(tool_id, status === 'success', text);
    },
    // This is a warning: our own hook sent the agent on, or the host found a loop. The
    // turn goes on, or ends with a result.
    error: endAnswer,
    result({ status, error, stats }) {
      const text = spoken.trim();
      const tokens = driver.tokensOf(stats, 'cached');
      const facts: DriveFact[] = [
        ...endAnswer(),
        { type: 'usage', of: 'start', tokens, cost: null },
      ];
      if (status === 'success')
        return [...facts, { type: 'ended', end: text === '' ? 'empty' : 'normal', text }];
      const message = textOf(recordOf(error)['message']) ?? 'an error without a word';
      const code = Number(/"code":\s*(\d+)/u.exec(message)?.[1]);
      return [
        ...facts,
        driver.describeFailure(message, code),
        { type: 'ended', end: 'error' },
      ];
    },
  };
}

export const geminiDriver: HostDriver = {
  name: hostName,
  title,
  program,
  howToGet,
  takesId: true,
  reports: { tokens: true, cost: false },
  tools: { pause: null, verify: null },
  permissions: {
    'read-only': 'Gemini CLI may only look (its mode "plan").',
    edit: 'Gemini CLI may edit files in this folder, and runs no commands (its mode "auto_edit"). --auto allows everything.',
    auto: 'Gemini CLI may do anything that you may: --auto is its mode "yolo".',
  },
  start(start) {
    const { text, id, isNew, mode, model, flags } = start;
    return {
      words: [
        // Starts in a folder that nobody trusted, whose settings stay unread all the
        // same.
        '--skip-trust',
        '-o',
        'stream-json',
        '--approval-mode',
        modes[mode],
        ...policyWords(start),
        ...(model === null ? [] : ['-m', model]),
        isNew ? '--session-id' : '--resume',
        id ?? '',
        ...flags,
      ],
      // Without this, the host starts itself again for a larger heap, which takes a third
      // of each start.
      variables: { GEMINI_CLI_NO_RELAUNCH: 'true' },
      input: text,
    };
  },
  createReader: () => driver.createLineReader(createReaders(), readErrors),
};
