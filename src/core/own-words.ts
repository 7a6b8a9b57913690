// Templates with named parts, for a user's own words in the place of ours: what is told
// to agents (texts.ts) and the toasts that people are shown. One that lacks what must
// stay is refused when the settings are read (E6).
import { didYouMean } from './problem.ts';
import {
  described,
  either,
  type Infer,
  type Kind,
  line,
  list,
  section,
} from './schema.ts';

/** Lines; one may stand alone. */
type Template = string | readonly string[];

type Parts<Name extends string = string> = Readonly<
  Partial<Record<Name, string | number>>
>;

const part = /\{(\w{1,40})\}/gu;

/**
 * Each part once: what a part holds is a stranger's text, in which `{next}` means
 * nothing.
 */
export function render(template: Template, parts: Parts): string {
  const lines = [template].flat().map((line) => {
    const used = [...line.matchAll(part)].map(([, name = '']) =>
      String(parts[name] ?? ''),
    );
    // A line about something that is not there would be half a sentence.
    if (used.length > 0 && used.every((value) => value === '')) return '';
    return line.replace(part, () => used.shift() ?? '').trimEnd();
  });
  return lines.filter((line) => line !== '').join('\n');
}

/**
 * `parts`: what each one holds, for people. `kept`: those that such a template must have.
 */
export function template(
  summary: string,
  parts: Readonly<Record<string, string>>,
  kept: readonly string[],
): Kind<Template> {
  const shape = either(list(line(1000), 50), line(1000));
  const expected =
    'a visible text on one line of at most 1000 characters, or a list of at most 50 of them';
  const refuses = (given: unknown) => {
    // What is no text was told.
    const lines = [given].flat().filter((line) => typeof line === 'string');
    const used = lines.flatMap((line) =>
      [...line.matchAll(part)].map(([, name = '']) => name),
    );
    const unknown = used.find((name) => !Object.hasOwn(parts, name));
    if (unknown !== undefined)
      return didYouMean(
        `{${unknown}} is not one of its parts`,
        unknown,
        Object.keys(parts),
      );
    const lacks = kept.find((name) => !used.includes(name));
    return lacks === undefined ? null : `must contain {${lacks}}: ${parts[lacks]}`;
  };
  return described({ ...shape, expected, refuses }, summary);
}

/** What a toast can say; the title stays ours, so that people see who speaks. */
export const toastParts = {
  reason: 'what happens, or why the agent ended: Resuming in 2 s',
  seconds: 'seconds until the agent is sent on; empty once it has ended',
  outcome: 'how it ended; empty in a countdown',
  remaining: 'how many todos are open',
  open: 'the titles of some of them; empty in a countdown',
};

export const toastTemplates = section({
  default: template('Every toast that has no words of its own.', toastParts, ['reason']),
  countdown: template('Each second before the agent is sent on.', toastParts, [
    'seconds',
  ]),
  end: template('The turn ended with an outcome, `done` or any other.', toastParts, [
    'reason',
  ]),
});

/** Null: no words of the user's own. */
export function ownToast(
  own: Infer<typeof toastTemplates>,
  kind: 'countdown' | 'end',
  parts: Parts<keyof typeof toastParts>,
): string | null {
  const words = own[kind] ?? own.default;
  return words === undefined ? null : render(words, parts);
}
