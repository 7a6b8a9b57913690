import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { Refusal, writeHookCommand } from './files.ts';
import { applyJson, type JsonEdit, removeJson } from './json-text.ts';

const host = 'claude-code';
const commandOf = (version: string): string =>
  writeHookCommand(
    { scope: 'user', node: '/usr/bin/node', stateDirectory: '/s', version },
    host,
  );
const hookOf = (version: string): JsonEdit => ({
  kind: 'hook',
  path: ['hooks', 'Stop'],
  value: { hooks: [{ type: 'command', command: commandOf(version), timeout: 900 }] },
});
const variable: JsonEdit = { kind: 'member', path: ['env', 'SWITCH'], value: '1' };
const grant: JsonEdit = { kind: 'entry', path: ['permissions', 'allow'], value: 'ours' };
const edits = [variable, grant, hookOf('1.0.0')];

const apply = (text: string, ...some: JsonEdit[]): string =>
  some.reduce((before, edit) => applyJson(before, edit, host), text);
const removeWhere = (
  text: string,
  some: readonly JsonEdit[],
  mayEmpty: (path: readonly string[]) => boolean,
) => some.reduce((before, edit) => removeJson(before, edit, host, mayEmpty), text);
const remove = (text: string, ...some: JsonEdit[]): string =>
  removeWhere(text, some, () => true);

function unlessRefused(text: string): string | null {
  try {
    return apply(text, ...edits);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

describe('adding to a JSON text', () => {
  it('C1: an empty text becomes an object with a final newline', () => {
    expect(apply('', variable)).toBe('{\n  "env": {\n    "SWITCH": "1"\n  }\n}\n');
    expect(apply(' \n')).toBe(' \n');
  });

  it('C1: comments, order, unknown keys and a missing final newline stay; indentation is the file’s own', () => {
    const text = [
      '// about this file',
      '{',
      '\t"model": "x", // the good one',
      '\t"env": {',
      '\t\t"OTHER": "2" // why',
      '\t\t/* later */',
      '\t},',
      '\t"unknown": [1, {"a": null}]',
      '}',
    ].join('\n');
    expect(apply(text, variable, grant)).toBe(
      [
        '// about this file',
        '{',
        '\t"model": "x", // the good one',
        '\t"env": {',
        '\t\t"OTHER": "2", // why',
        '\t\t/* later */',
        '\t\t"SWITCH": "1"',
        '\t},',
        '\t"unknown": [1, {"a": null}],',
        '\t"permissions": {',
        '\t\t"allow": [',
        '\t\t\t"ours"',
        '\t\t]',
        '\t}',
        '}',
      ].join('\n'),
    );
  });

  it('C1: a byte order mark and CRLF stay, and new lines end alike', () => {
    const text = '\uFEFF{\r\n    "a": 1\r\n}\r\n';
    expect(apply(text, variable)).toBe(
      '\uFEFF{\r\n    "a": 1,\r\n    "env": {\r\n        "SWITCH": "1"\r\n    }\r\n}\r\n',
    );
  });

  it.each([
    ['{"a":1}', '{"a":1, "env": {"SWITCH":"1"}}'],
    ['{"env":{"A":"b"}}', '{"env":{"A":"b", "SWITCH": "1"}}'],
    ['{"a":1,}', '{"a":1, "env": {"SWITCH":"1"}}'],
    ['{}', '{\n  "env": {\n    "SWITCH": "1"\n  }\n}'],
    ['{"env":{}}', '{"env":{\n  "SWITCH": "1"\n}}'],
    ['{\n  "a": 1,\n}', '{\n  "a": 1,\n  "env": {\n    "SWITCH": "1"\n  }\n}'],
  ])('C1: %j on few lines stays on few lines', (before, after) => {
    expect(apply(before, variable)).toBe(after);
  });

  it('C1: a value that a person wrote stays and is told; a key with our name is ours', () => {
    const text = '{ "env": { "SWITCH": "0" } }';
    expect(apply(text, variable)).toBe(text);
    expect(apply(text, { ...variable, named: true })).toBe(
      '{ "env": { "SWITCH": "1" } }',
    );
  });

  it.each([
    ['{"env": []}', 'has something other than an object at "env"'],
    [
      '{"permissions": {"allow": "all"}}',
      'has something other than a list at "permissions.allow"',
    ],
    ['{"env": {}, "env": {}}', 'has the key "env" twice in one object'],
    ['[1]', 'has something other than a JSON object in it'],
    ['{"a": 1\n "b": 2}', 'is not valid JSON: line 2, column 2: comma expected'],
    ['{"a": ', 'is not valid JSON: line 1, column 7: value expected'],
  ])('C1: %j is refused with a sentence', (text, sentence) => {
    expect(() => apply(text, ...edits)).toThrow(new Refusal(sentence));
  });

  it('C1: a text of absurd depth is refused, and the parser’s own failure goes no further', () => {
    const text = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    expect(() => apply(text, ...edits)).toThrow(new Refusal('is nested too deeply'));
  });

  it('C1: applying twice changes nothing more', () => {
    const once = apply('{"a": 1 /* x */}', ...edits);
    expect(apply(once, ...edits)).toBe(once);
  });

  it('C1: a hook of an older version is replaced in its place; hooks of others stay around it', () => {
    const others = '{ "hooks": [{ "type": "command", "command": "beep" }] }';
    const old = apply(`{ "hooks": { "Stop": [${others}] } }`, hookOf('0.9.0'));
    const after = apply(
      old.replace(/\]\s*\}\s*\}$/, `, ${others}] } }`),
      hookOf('1.0.0'),
    );
    const commands = parse(after).hooks.Stop.flatMap(
      (group: { hooks: { command: string }[] }) =>
        group.hooks.map(({ command }) => command),
    );
    expect(commands).toEqual(['beep', commandOf('1.0.0'), 'beep']);
  });

  it('C1: of several hooks of ours one is left', () => {
    const { path } = hookOf('1.0.0');
    const stale = ['0.8.0', '0.9.0'].map((version) => ({
      hooks: [{ type: 'command', command: commandOf(version) }],
    }));
    const text = JSON.stringify({ hooks: { [path[1] ?? '']: stale } }, null, 2);
    expect(parse(apply(text, hookOf('1.0.0')))).toEqual(
      parse(apply('', hookOf('1.0.0'))),
    );
  });
});

describe('taking out of a JSON text', () => {
  it('C2: comments of others survive, also between a comma and what goes', () => {
    const text = [
      '{',
      '  "a": 1, // stays',
      '  // stays too',
      '  "env": { "SWITCH": "1" }, // beside ours',
      '  "permissions": { "allow": ["x", "ours"] /* end */ }',
      '}',
    ].join('\n');
    expect(remove(text, ...edits)).toBe(
      [
        '{',
        '  "a": 1, // stays',
        '  // stays too',
        '  // beside ours',
        '  "permissions": { "allow": ["x"] /* end */ }',
        '}',
      ].join('\n'),
    );
  });

  it('C2: the last of several members leaves no comma behind', () => {
    expect(
      remove('{\n  "a": 1, // c\n  "env": {\n    "SWITCH": "1"\n  }\n}\n', variable),
    ).toBe('{\n  "a": 1 // c\n}\n');
  });

  it('C2: a hook that a person added beside ours stays, and so does a value that differs from ours', () => {
    const text = apply('{}', ...edits).replace(
      '"timeout": 900\n          }',
      '"timeout": 900\n          }, { "command": "beep" }',
    );
    const left = parse(remove(text.replace('"SWITCH": "1"', '"SWITCH": "2"'), ...edits));
    expect(left).toEqual({
      env: { SWITCH: '2' },
      hooks: { Stop: [{ hooks: [{ command: 'beep' }] }] },
    });
  });

  it('C2: where a person put our command into no list, nothing is taken out', () => {
    const text = JSON.stringify({
      model: 'x',
      hooks: { Stop: { command: commandOf('1.0.0') } },
    });
    expect(remove(text, hookOf('1.0.0'))).toBe(text);
  });

  it('C2: an object that was empty before us stays when it may not go', () => {
    const text = apply('{ "env": {} }', variable);
    expect(parse(removeWhere(text, [variable], () => false))).toEqual({ env: {} });
  });

  it('C2: whatever the document, adding and taking out leaves what was there', () => {
    const key = fc.constantFrom(
      'env',
      'hooks',
      'permissions',
      'allow',
      'Stop',
      'SWITCH',
      'a',
      'b "c"',
      '__x',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.dictionary(
        key,
        fc.oneof(fc.constantFrom<unknown>(1, 'x', null, true), tie('list'), tie('tree')),
        { maxKeys: 4 },
      ),
      list: fc.array(fc.oneof(fc.constantFrom<unknown>(2, 'y'), tie('tree')), {
        maxLength: 3,
      }),
    }));
    const layout = fc.constantFrom<string | number>(0, 1, 2, 4, '\t');
    const breaks = fc.constantFrom('\n', '\r\n');
    const noise = fc.boolean();
    fc.assert(
      fc.property(
        tree,
        layout,
        breaks,
        noise,
        (value, indentation, endOfLine, isNoisy) => {
          const plain = JSON.stringify(value, null, indentation).replaceAll(
            '\n',
            endOfLine,
          );
          const text = isNoisy ? plain.replaceAll(/([{[,])(?=\s)/g, '$1 /* c */') : plain;
          const added = unlessRefused(text);
          if (added === null) return;
          const comments = (some: string): number =>
            some.match(/\/\* c \*\//g)?.length ?? 0;
          expect(comments(added)).toBe(comments(text));
          expect(apply(added, ...edits)).toBe(added);
          const owned = edits.filter((edit) => apply(text, edit) !== text);
          const had = (path: readonly string[]): boolean => {
            let node: unknown = value;
            for (const step of path)
              node = (node as Record<string, unknown> | undefined)?.[step];
            return node !== undefined;
          };
          const back = removeWhere(added, owned, (path) => !had(path));
          expect(parse(back)).toEqual(parse(text));
          expect(comments(back)).toBe(comments(text));
        },
      ),
      { numRuns: 500 },
    );
  });
});
