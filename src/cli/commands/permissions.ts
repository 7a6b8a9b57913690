// `untildone permissions`: lists what the human always allows our own agent in this
// directory, and forgets it. It grants nothing: a human does that when the agent asks, or
// in the user's configuration.
import { realpathSync } from 'node:fs';
import {
  provenGrants,
  readGrants,
  removeGrants,
} from '../../agent/workspace/remembered-grants.ts';
import { stateDirectory } from '../../store/state-directory.ts';
import { describePattern } from '../ask-at-terminal.ts';
import { type Command, jsonOption } from '../command.ts';
import { formatTime } from '../describe-time.ts';
import { withStore } from '../open-runtime.ts';
import {
  escapeForTerminal,
  formatCount,
  formatFields,
  printRefusal,
  printResult,
} from '../print.ts';

export const permissions: Command = {
  about: [
    'Lists what you allowed the agent of `untildone run` always in this directory. --forget takes one back by its\npattern, as it is listed; the agent asks again. What your configuration allows stands in `untildone config`.',
  ],
  options: {
    forget: {
      value: 'PATTERN',
      summary: 'Take back what was allowed with this pattern.',
    },
    'forget-all': { summary: 'Take back everything that was allowed here.' },
    ...jsonOption,
  },
  async run(given, io) {
    const grantFolder = {
      stateDirectory: stateDirectory(io.env),
      directory: realpathSync(io.cwd),
    };
    const { directory } = grantFolder;
    const wantedPattern = given.text('forget');
    const json = given.has('json');
    if (wantedPattern !== null || given.has('forget-all')) {
      const forgotten = removeGrants(
        grantFolder,
        ({ pattern }) =>
          wantedPattern === null ||
          [pattern, describePattern(pattern)].includes(wantedPattern),
      );
      const unknown = `No permission here has the pattern "${escapeForTerminal(wantedPattern ?? '', 80)}"; \`untildone permissions\` lists them.`;
      const isUnknown = forgotten === 0 && wantedPattern !== null;
      if (isUnknown && !json) return printRefusal(io, unknown);
      printResult(io, json, { directory, forgotten }, () => [
        `Forgot ${formatCount(forgotten, 'permission')}.`,
      ]);
      return isUnknown ? 1 : 0;
    }
    const proven =
      (await withStore(io, (store) => provenGrants(store, grantFolder)))?.grants ?? [];
    const isProven = (id: string): boolean =>
      proven.some(({ answerId }) => answerId === id);
    const all = readGrants(grantFolder).map((grant) => ({
      ...grant,
      onRecord: isProven(grant.answerId),
    }));
    const rows = all.map(({ tool, pattern, at, onRecord }): [string, string] => {
      const since = `${formatTime(at)}${onRecord ? '' : '; you gave no such answer: ignored'}`;
      return [
        escapeForTerminal(tool, 40),
        `${escapeForTerminal(describePattern(pattern), 300)}  (${since})`,
      ];
    });
    return printResult(io, json, { directory, permissions: all }, () =>
      rows.length === 0
        ? ['Nothing is always allowed in this directory.']
        : formatFields(rows, ''),
    );
  },
};
