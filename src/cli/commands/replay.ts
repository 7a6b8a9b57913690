// `untildone replay`: what other settings would have decided about a recorded session
// (V6). It writes nothing.
import type { Decision } from '../../core/decision.ts';
import { UntildoneError } from '../../core/error.ts';
import { type Difference, type Replay, replaySession } from '../../engine/replay.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { describeAnswer, nameSession } from '../describe-session.ts';
import { formatTime } from '../describe-time.ts';
import { sessionCommand } from '../find-session.ts';
import { readPolicyFile } from '../open-runtime.ts';
import { count, shown } from '../print.ts';

/** More are in the JSON; nobody reads more on a screen. */
const shownDifferences = 100;

export const replay = sessionCommand({
  takes: '<SESSION>',
  about: [
    'Decides the recorded events of a session again under the settings of FILE (what it does not say is the default)\nand shows where the answers differ. Nothing is written and nothing is sent.',
    'The recorded events were shaped by the recorded answers: after the first difference the agent would have done\nother things than the record says. Read the first difference as a fact and those after it as a hint.',
  ],
  options: {
    policy: { value: 'FILE', summary: 'Settings as in untildone.json, under any name.' },
  },
  check(given) {
    if (!given.has('policy'))
      throw new UntildoneError('usage', 'Say which settings to try: --policy FILE.');
  },
  async answer({ given, io, store, session }) {
    const settings = readPolicyFile(io.cwd, given.text('policy') ?? '');
    const inMemory = () => openSqliteStore({ path: ':memory:' });
    const replayed = await replaySession(store, session, settings, inMemory);
    return { json: replayed, lines: lines(nameSession(session), replayed) };
  },
});

function lines(
  name: string,
  { events, decisions, redecided, differences, notReproduced }: Replay,
): string[] {
  const recorded = `${count(events, 'event')}, ${count(decisions, 'decision')}`;
  const others = redecided === decisions ? '' : ` (${count(redecided, 'decision')})`;
  const would =
    differences.length === 0
      ? 'no answer would differ.'
      : `${count(differences.length, 'answer')} would differ:`;
  const hidden = differences.length - shownDifferences;
  return [
    `Session ${name}: ${recorded}. Under the other settings${others} ${would}`,
    ...differences.slice(0, shownDifferences).flatMap(differenceLines),
    ...(hidden > 0 ? [`  … and ${hidden} more; --json has them all.`] : []),
    ...(differences.length > 0
      ? [
          'Only the first difference is certain: after it the agent would have done other things.',
        ]
      : []),
    ...(notReproduced > 0
      ? [
          `${count(notReproduced, 'recorded answer')} did not come out again: another version or configuration gave them.`,
        ]
      : []),
  ];
}

function differenceLines({ event, type, at, was, would }: Difference): string[] {
  const answer = (decision: Decision | null): string =>
    decision === null
      ? 'no decision'
      : `${shown(describeAnswer(decision))}. ${shown(decision.sentence, 160)}`;
  return [
    `  event ${event}, ${formatTime(at)}, ${type}`,
    `      was       ${answer(was)}`,
    `      would be  ${answer(would)}`,
  ];
}
