// Payloads as Gemini CLI 0.61.0 wrote them, shortened; every field can be overridden. For
// tests only.

export const sessionId = 'e596f4e6-ece4-43b5-908d-d9108952f6f1';

type Fields = Readonly<Record<string, unknown>>;

const shared = {
  session_id: sessionId,
  transcript_path:
    '/home/me/.gemini/tmp/project/chats/session-2026-11-18T00-55-e596f4e6.jsonl',
  cwd: '/nowhere/project',
};
const named = (hook: string, second: string) => ({
  ...shared,
  hook_event_name: hook,
  timestamp: `2026-11-18T00:55:${second}Z`,
});

export const startPayload = (source: string, fields: Fields = {}): Fields => ({
  ...named('SessionStart', '07.353'),
  source,
  ...fields,
});

export const endPayload = (): Fields => ({
  ...named('SessionEnd', '14.495'),
  reason: 'exit',
});

/** It fires again with the reason of a block as the prompt. */
export const promptPayload = (prompt: string, fields: Fields = {}): Fields => ({
  ...named('BeforeAgent', '07.447'),
  prompt,
  ...fields,
});

/** What was said in the steps before it, which had calls and no words, is in front. */
export const stopPayload = (fields: Fields = {}): Fields => ({
  ...named('AfterAgent', '13.466'),
  prompt: 'Do it.',
  prompt_response: ' \n \n \nAll done. ',
  stop_hook_active: false,
  ...fields,
});

/** Calls have no id: their times tell them apart. */
export const toolPayload = (
  tool: string,
  second: string,
  input: unknown,
  response: unknown,
): Fields => ({
  ...named('AfterTool', second),
  tool_name: tool,
  tool_input: input,
  tool_response: response,
});

type Todo = Readonly<{ description: string; status: string }>;

export const todosPayload = (todos: readonly Todo[], second = '08.312'): Fields =>
  toolPayload(
    'write_todos',
    second,
    { todos },
    {
      llmContent: `Successfully updated the todo list. The current list is now:\n${todos
        .map(
          ({ description, status }, index) => `${index + 1}. [${status}] ${description}`,
        )
        .join('\n')}`,
      returnDisplay: { todos },
    },
  );

export const beforeTodosPayload = (todos: readonly Todo[]): Fields => ({
  ...named('BeforeTool', '08.247'),
  tool_name: 'write_todos',
  tool_input: { todos },
});

export const shellPayload = (): Fields =>
  toolPayload(
    'run_shell_command',
    '10.638',
    { command: 'echo hi; exit 3', description: 'Run a command' },
    {
      llmContent:
        '<untrusted_context>\nOutput: hi\nExit Code: 3\nProcess Group PGID: 2511\n</untrusted_context>',
      returnDisplay: 'hi',
    },
  );

export const failedPayload = (): Fields =>
  toolPayload(
    'read_file',
    '11.777',
    { file_path: 'nothere.txt' },
    {
      llmContent: 'Could not read file because no file was found at the specified path.',
      returnDisplay: 'File not found.',
      error: {
        message: 'File not found: /nowhere/project/nothere.txt',
        type: 'file_not_found',
      },
    },
  );

export const receipt = 'udr_0e7aa9cb1746716b000001a1ec281ec5';
const answer = `{"created":[{"id":"01a1ec28","title":"one","order":1}],"totalPending":1}\nreceipt: ${receipt}`;

/** One of our own tools: what the model gets is wrapped. */
export const ownToolPayload = (): Fields => ({
  ...toolPayload(
    'mcp_untildone_create_todo',
    '54.736',
    { items: [{ title: 'one' }] },
    {
      llmContent: [{ text: `<untrusted_context>\n${answer}\n</untrusted_context>` }],
      returnDisplay: answer,
    },
  ),
  mcp_context: {
    server_name: 'untildone',
    tool_name: 'create_todo',
    command: 'node',
    args: ['mcp'],
  },
});

/** Read off the program: headless it never asks. */
export const permissionPayload = (): Fields => ({
  ...named('Notification', '20.000'),
  notification_type: 'ToolPermission',
  message: 'Tool Confirm Shell Command requires execution',
  details: {
    type: 'exec',
    title: 'Confirm Shell Command',
    command: 'npm test',
    rootCommand: 'npm',
  },
});
