// `untildone replay`: what other settings would have decided about a recorded session (V6). It writes nothing.
import type { Decision } from '../../core/decision.ts';
import { UntildoneError } from '../../core/error.ts';
import { type Command, jsonOption } from '../command.ts';
import { describeAnswer } from '../describe-decision.ts';
import { formatTime } from '../describe-time.ts';
import { findSession, noSessionsYet } from '../find-session.ts';
import { readPolicyFile, withStore } from '../open-runtime.ts';
import { count, printJson, printLines, shown } from '../print.ts';
import { type Difference, type Replay, replaySession } from '../replay-session.ts';
import { nameSession, sessionFields } from '../session-name.ts';

/** More are in the JSON; nobody reads more on a screen. */
const shownDifferences = 100;

export const replay: Command = {
  usage: 'replay SESSION --policy FILE [--json]',
  about: [
    'Decides the recorded events of a session again under the settings of FILE (what it does not say is the default)\nand shows where the answers differ. Nothing is written and nothing is sent.',
    'The recorded events were shaped by the recorded answers: after the first difference the agent would have done\nother things than the record says. Read the first difference as a fact and those after it as a hint.',
  ],
  options: {
    policy: { value: 'FILE', summary: 'Settings as in untildone.json, under any name.' },
    ...jsonOption,
  },
  positionals: [1, 1],
  async run(given, io) {
    const file = given.text('policy');
    if (file === null) throw new UntildoneError('usage', 'Say which settings to try: --policy FILE.');
    const settings = readPolicyFile(io.cwd, file);
    const found = await withStore(io, async (store) => {
      const session = await findSession(store, given.positional(0), io);
      return { session, replay: await replaySession(store, session, settings) };
    });
    if (found === null) throw new UntildoneError('unknown-session', noSessionsYet);
    if (given.has('json')) printJson(io, { ...sessionFields(found.session), ...found.replay });
    else printLines(io, lines(nameSession(found.session), found.replay));
    return 0;
  },
};

function lines(name: string, { events, decisions, redecided, differences, notReproduced }: Replay): string[] {
  const totals = `${count(events, 'event')}, ${count(decisions, 'decision')}; under the other settings ${redecided}`;
  const outcome =
    differences.length === 0 ? 'No answer differs.' : `${count(differences.length, 'answer')} would differ:`;
  const hidden = differences.length - shownDifferences;
  return [
    `Session ${name}: ${totals}. ${outcome}`,
    ...differences.slice(0, shownDifferences).flatMap(differenceLines),
    ...(hidden > 0 ? [`  … and ${hidden} more; --json has them all.`] : []),
    ...(differences.length > 0
      ? ['The record was shaped by its own answers: the first difference is a fact, the rest a hint.']
      : []),
    ...(notReproduced > 0
      ? [
          `${count(notReproduced, 'recorded answer')} did not come out again: another version or configuration gave them.`,
        ]
      : []),
  ];
}

function differenceLines({ event, type, at, was, would }: Difference): string[] {
  return [
    `  event ${event}, ${formatTime(at)}, ${type}`,
    `      was       ${answer(was, 'no decision')}`,
    `      would be  ${answer(would, 'no decision')}`,
  ];
}

function answer(decision: Decision | null, none: string): string {
  return decision === null ? none : `${shown(describeAnswer(decision))}: ${shown(decision.sentence, 160)}`;
}
