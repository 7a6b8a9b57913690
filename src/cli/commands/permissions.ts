// `untildone permissions`: what the human allowed our own agent for good in this directory, and the way to forget it.
// It grants nothing: that is said when the agent asks, or in the user's configuration.
import { realpathSync } from 'node:fs';
import { provenGrants, readGrants, removeGrants } from '../../agent/workspace/remembered-grants.ts';
import { stateDirectory } from '../../store/state-directory.ts';
import { type Command, jsonOption } from '../command.ts';
import { formatTime } from '../describe-time.ts';
import { withStore } from '../open-runtime.ts';
import { count, fields, printJson, printWrapped, refuse, shown } from '../print.ts';
import { describePattern } from '../show/permission-lines.ts';

export const permissions: Command = {
  usage: 'permissions [--forget PATTERN | --forget-all] [--json]',
  about: [
    'Lists what you allowed the agent of `untildone run` always in this directory. --forget takes one back by its\npattern, as it is listed; the agent asks again. What your configuration allows stands in `untildone config`.',
  ],
  options: {
    forget: { value: 'PATTERN', summary: 'Take back what was allowed with this pattern.' },
    'forget-all': { summary: 'Take back everything that was allowed here.' },
    ...jsonOption,
  },
  positionals: [0, 0],
  async run(given, io) {
    const place = { stateDirectory: stateDirectory(io.env), directory: realpathSync(io.cwd) };
    const { directory } = place;
    const wanted = given.text('forget');
    const json = given.has('json');
    if (wanted !== null || given.has('forget-all')) {
      const forgotten = removeGrants(
        place,
        ({ pattern }) => wanted === null || [pattern, describePattern(pattern)].includes(wanted),
      );
      const isUnknown = forgotten === 0 && wanted !== null;
      const unknown = `No permission here has the pattern "${shown(wanted ?? '', 80)}"; \`untildone permissions\` lists them.`;
      if (json) printJson(io, { directory, forgotten });
      else if (isUnknown) return refuse(io, unknown);
      else printWrapped(io, [`Forgot ${count(forgotten, 'permission')}.`]);
      return isUnknown ? 1 : 0;
    }
    const proven = (await withStore(io, (store) => provenGrants(store, place)))?.grants ?? [];
    const isProven = (id: string): boolean => proven.some(({ answerId }) => answerId === id);
    const all = readGrants(place).map((grant) => ({ ...grant, onRecord: isProven(grant.answerId) }));
    const rows = all.map(({ tool, pattern, at, onRecord }): [string, string] => {
      const since = `${formatTime(at)}${onRecord ? '' : '; you gave no such answer: ignored'}`;
      return [shown(tool, 40), `${shown(describePattern(pattern), 300)}  (${since})`];
    });
    if (json) printJson(io, { directory, permissions: all });
    else
      printWrapped(
        io,
        rows.length === 0 ? ['Nothing is always allowed in this directory.'] : fields(rows, ''),
      );
    return 0;
  },
};
