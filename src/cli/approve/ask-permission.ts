// `approve` for a permission: shows what the agent wants to do, asks, and says what became of it.
import type { PermissionChoice } from '../../agent/agent-event.ts';
import { UntildoneError } from '../../core/error.ts';
import { hasHidden, visibleLine, visibleLines } from '../../core/safe-text.ts';
import type { PermissionRequest, Session } from '../../core/state.ts';
import type { Store } from '../../engine/store.ts';
import { askAtTerminal, notUnderstood, permissionPrompt, readPermission } from '../ask-at-terminal.ts';
import { type Arguments, jsonOption } from '../command.ts';
import { describeState } from '../describe-session.ts';
import { formatAge } from '../describe-time.ts';
import type { Io } from '../io.ts';
import { fields, printJson, printLines, refuse, shown } from '../print.ts';
import { nameSession, sessionFields, shortId } from '../session-name.ts';
import { describeCover, describePattern, hiddenNote } from '../show/permission-lines.ts';
import { answerPermission } from './answer-permission.ts';

export const permissionOptions = {
  request: { value: 'ID', summary: 'The permission request that is answered, by the start of its id.' },
  for: { value: 'LENGTH', summary: 'How long a yes to it holds: once (the default), session or always.' },
  ...jsonOption,
} as const;

/** null: the human is to be asked. */
function saidPermission(given: Arguments): PermissionChoice | null {
  const length = given.text('for') ?? 'once';
  if (length !== 'once' && length !== 'session' && length !== 'always')
    throw new UntildoneError('usage', '--for takes once, session or always.');
  if (given.text('reject') !== null) return 'no';
  return given.has('yes') ? length : null;
}

export function findRequest(requests: readonly PermissionRequest[], word: string): PermissionRequest {
  const found = requests.filter(({ requestId }) => requestId.startsWith(word));
  if (found.length === 1 && found[0] !== undefined) return found[0];
  throw new UntildoneError(
    'usage',
    `${found.length === 0 ? 'No' : 'More than one'} waiting permission request starts with "${shown(word, 60)}".`,
  );
}

/** What stands in a list of things that wait. */
export function requestField({ requestId, tool, subject }: PermissionRequest): [string, string] {
  return [`request ${shown(requestId, 60)}`, `${shown(tool, 40)}: ${shown(visibleLine(subject), 200)}`];
}

export function viewRequest({ requestId, tool, subject, pattern, askedAt }: PermissionRequest) {
  return { request: requestId, tool, subject, pattern, askedAt };
}

/** Returns the exit code. */
export async function askPermission(
  given: Arguments,
  io: Io,
  store: Store,
  session: Session,
  request: PermissionRequest,
): Promise<number> {
  const said = saidPermission(given);
  if (said === null) {
    const lines = requestLines(session, request, io.clock.now());
    (given.has('json') ? io.stderr : io.stdout).write(lines.map((line) => `${line}\n`).join(''));
  }
  const words = said === null ? ((await askAtTerminal(permissionPrompt, flags)) ?? '') : '';
  const choice = said ?? readPermission(words);
  if (choice === null) {
    if (given.has('json'))
      printJson(io, { ...sessionFields(session), answered: false, ...viewRequest(request) });
    else printLines(io, [describeLeftOpen(words)]);
    return 3;
  }
  const place = { sessionId: session.id, requestId: request.requestId };
  const after = await answerPermission(io, store, place, choice);
  if (after === null) return refuse(io, 'It was answered or withdrawn meanwhile; nothing was recorded.');
  const state = describeState(after, io.clock.now());
  if (given.has('json')) {
    const granted = choice !== 'no';
    const answer = { answered: true, ...viewRequest(request), granted, remembered: choice, state };
    printJson(io, { ...sessionFields(session), ...answer });
    return 0;
  }
  printLines(io, [describeChoice(request, choice), howItGoesOn(after)]);
  return 0;
}

/** What was typed and is no answer. */
export function describeLeftOpen(words: string): string {
  const why = words.trim() === '' ? '' : `${notUnderstood(words)} `;
  return `${why}Left open; nothing was recorded.`;
}

const flags = '--request ID and --yes, --for LENGTH or --reject REASON';

/** More than the longest question that is asked, with every character of it named. */
const longestLine = 40_000;

/** The whole subject, line by line: whoever allows it must have seen it. */
function requestLines(session: Session, request: PermissionRequest, now: number): string[] {
  const { tool, subject, pattern, askedAt } = request;
  const [first = '', ...more] = visibleLines(subject).map((line) => shown(line, longestLine));
  return [
    `Session ${nameSession(session)} (${shown(session.descriptor.host, 30)}) asks to be allowed:`,
    ...fields([
      ['directory', shown(visibleLine(session.descriptor.directory ?? 'unknown'), 200)],
      ['asked', formatAge(askedAt, now)],
      ['tool', shown(tool, 40)],
      ['call', first],
      ...more.map((line): [string, string] => ['', line]),
      hasHidden(subject) ? ['', hiddenNote] : null,
      ['for longer', shown(describeCover(subject, pattern), longestLine)],
    ]),
  ];
}

function describeChoice({ tool, subject, pattern }: PermissionRequest, choice: PermissionChoice): string {
  const call = `${shown(tool, 40)} ${shown(visibleLine(subject), 120)}`;
  if (choice === 'no') return `Recorded a no to ${call}; the agent is told.`;
  if (choice === 'once') return `Allowed once: ${call}.`;
  const covers = shown(describePattern(pattern), 120);
  return choice === 'session'
    ? `Allowed for this session: ${covers}.`
    : `Allowed always in this folder: ${covers}. \`untildone permissions\` shows and forgets it.`;
}

function howItGoesOn({ id, turn }: Session): string {
  return turn?.ended
    ? `\`untildone run --resume ${shortId(id)}\` goes on.`
    : 'The run that waits for it goes on; one that was ended does so with `untildone run --resume`.';
}
