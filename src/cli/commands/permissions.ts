// `untildone permissions`: what the human allowed our own agent for good in this directory, and the way to forget it.
// It grants nothing: that is said when the agent asks, or in the user's configuration.
import { realpathSync } from 'node:fs';
import {
  type GrantPlace,
  provenGrants,
  readGrants,
  removeGrants,
} from '../../agent/workspace/remembered-grants.ts';
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
    const place: GrantPlace = { stateDirectory: stateDirectory(io.env), directory: realpathSync(io.cwd) };
    const pattern = given.text('forget');
    if (pattern !== null || given.has('forget-all')) {
      const forgotten = removeGrants(
        place,
        (grant) => pattern === null || [grant.pattern, describePattern(grant.pattern)].includes(pattern),
      );
      if (given.has('json')) printJson(io, { directory: place.directory, forgotten });
      else if (forgotten === 0 && pattern !== null)
        return refuse(
          io,
          `No permission here has the pattern "${shown(pattern, 80)}"; \`untildone permissions\` lists them.`,
        );
      else printWrapped(io, [`Forgot ${count(forgotten, 'permission')}.`]);
      return forgotten > 0 || pattern === null ? 0 : 1;
    }
    const proven = (await withStore(io, (store) => provenGrants(store, place)))?.grants ?? [];
    const all = readGrants(place).map((grant) => ({
      ...grant,
      onRecord: proven.some(({ answerId }) => answerId === grant.answerId),
    }));
    if (given.has('json')) printJson(io, { directory: place.directory, permissions: all });
    else if (all.length === 0) printWrapped(io, ['Nothing is allowed for good in this directory.']);
    else
      printWrapped(
        io,
        fields(
          all.map(({ tool, pattern: covers, at, onRecord }): [string, string] => [
            shown(tool, 40),
            `${shown(describePattern(covers), 300)}  (${formatTime(at)}${onRecord ? '' : '; no such answer is on record: ignored'})`,
          ]),
          '',
        ),
      );
    return 0;
  },
};
