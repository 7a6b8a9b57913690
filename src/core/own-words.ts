// Templates with named parts, for a user's own words in place of ours: in what agents are
// told (texts.ts) and in toasts for people. A template that lacks a part which must stay
// is refused when the settings are read (E6).
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

/** Lines; a single line may stand alone. */
type Template = string | readonly string[];

type Parts<Name extends string = string> = Readonly<
  Partial<Record<Name, string | number>>
>;

const part = /\{(\w{1,40})\}/gu;

/**
 * Fills in the parts, each once: a part may hold a stranger's text, in which `{next}`
 * means nothing.
 */
export function renderTemplate(template: Template, parts: Parts): string {
  const lines = [template].flat().map((line) => {
    const used = [...line.matchAll(part)].map(([, name = '']) =>
      String(parts[name] ?? ''),
    );
    // If all parts of a line are empty, the line would be half a sentence.
    if (used.length > 0 && used.every((value) => value === '')) return '';
    return line.replace(part, () => used.shift() ?? '').trimEnd();
  });
  return lines.filter((line) => line !== '').join('\n');
}

/**
 * A setting for a template. `parts`: what each one holds, for people. `kept`: the parts
 * that such a template must have.
 */
export function parseTemplate(
  summary: string,
  parts: Readonly<Record<string, string>>,
  kept: readonly string[],
): Kind<Template> {
  const shape = either(list(line(1000), 50), line(1000));
  const expected =
    'a visible text on one line of at most 1000 characters, or a list of at most 50 of them';
  const refuses = (given: unknown) => {
    // A value that is no text was reported already.
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

/** What a toast can say. The title stays ours, so that people see who speaks. */
export const toastParts = {
  reason: 'what happens, or why the agent ended: Resuming in 2 s',
  seconds: 'seconds until the agent is sent on; empty once it has ended',
  outcome: 'how it ended; empty in a countdown',
  remaining: 'how many todos are open',
  open: 'the titles of some of them; empty in a countdown',
};

/** The user's own words for toasts. */
export const toastTemplates = section({
  default: parseTemplate('Every toast that has no words of its own.', toastParts, [
    'reason',
  ]),
  countdown: parseTemplate('Each second before the agent is sent on.', toastParts, [
    'seconds',
  ]),
  end: parseTemplate('The turn ended with an outcome, `done` or any other.', toastParts, [
    'reason',
  ]),
});

/** A toast in the user's own words; null: the user gave none. */
export function ownToast(
  own: Infer<typeof toastTemplates>,
  kind: 'countdown' | 'end',
  parts: Parts<keyof typeof toastParts>,
): string | null {
  const words = own[kind] ?? own.default;
  return words === undefined ? null : renderTemplate(words, parts);
}
