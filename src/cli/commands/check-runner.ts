// `untildone check-runner`: works through the queue of checks of one folder. Started by the system itself, never by
// people: it is not in the overview.

import { UntildoneError } from '../../core/error.ts';
import { runCheckQueue } from '../../hosts/check-queue.ts';
import type { Command } from '../command.ts';

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
    await runCheckQueue(directory, holder, io.env);
    return 0;
  },
};
