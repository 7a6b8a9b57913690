// Stories that the scripted model tells in several tests. A test names one in what the
// human says: "[script:quitter]".
import {
  always,
  complete,
  plan,
  say,
  script,
  toggle,
  untilAllDone,
  writeFile,
} from '../../../src/scripted-model/index.ts';

/** Plans, and then only says that it is done. */
export const stubborn = script('stubborn', [
  plan('parser', 'docs'),
  always(say('I am done.')),
]);

export const toggler = script('toggler', [
  plan('parser', 'docs'),
  always(toggle('parser'), say('I am done.')),
]);

/** Does what it planned and says so once. */
export const finished = script('finished', [
  plan('alpha', 'beta'),
  untilAllDone((title) => [writeFile(`${title}.txt`, title), complete(title)]),
  always(say('Both files are there.')),
]);
