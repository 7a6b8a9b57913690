// `untildone check-runner`: works through the queue of checks of one folder. Started by the system itself, never by
// people: it is not in the overview.
import { runQueue } from '../../checks/queue.ts';
import { UntildoneError } from '../../core/untildone-error.ts';
import type { Command } from '../command.ts';
import { withStore } from '../open-runtime.ts';

export const checkRunner: Command = {
  usage: 'check-runner DIRECTORY HOLDER',
  about: [
    'Runs the checks that sessions in the directory asked for, and ends. untildone starts it by itself.',
  ],
  options: {},
  positionals: [2, 2],
  async run(given, io) {
    const directory = given.positional(0);
    const holder = given.positional(1);
    if (directory === null || holder === null)
      throw new UntildoneError('usage', 'Name the directory and the holder of its queue.');
    await withStore(io, (store) =>
      runQueue({ store, clock: io.clock, directory, holder, environment: io.env }),
    );
    return 0;
  },
};
