// Stories that the scripted model tells in several tests. A test names one in what the human says: "[script:quitter]".
import {
  always,
  complete,
  parallel,
  plan,
  type Script,
  say,
  script,
  toggle,
  untilAllDone,
  writeFile,
} from '../../../src/scripted-model/index.ts';

export const titles = ['alpha', 'beta', 'gamma'] as const;

export function filesOf(names: readonly string[]): readonly string[] {
  return names.map((name) => `${name}.txt`).sort();
}

/** Finishes one todo at a time and claims each time that everything is done. */
export function quitter(name: string, ...names: readonly string[]): Script {
  const perTodo = (title: string) => [
    parallel(writeFile(`${title}.txt`, title), complete(title)),
    say('Everything is done.'),
  ];
  return script(name, [plan(...names), untilAllDone(perTodo)]);
}

/** Plans, and then only says that it is done. */
export const stubborn = script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))]);

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
