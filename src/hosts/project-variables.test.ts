import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stopPayload } from '../../test/support/payload-cases.ts';
import { wordsInCapitals } from '../../test/support/variables-read.ts';
import type { Environment } from '../engine/policy.ts';
import { createAskedHost } from './asked-translate.ts';
import { claudeCodeLanguage } from './claude-code/host.ts';
import { hosts } from './hosts.ts';
import { ignoredSentence, isReadByUs, withoutStrangers } from './project-variables.ts';

/** Words of SQL, of errors and of the system, and parts of longer names. */
const noVariables = new RegExp(
  `^(?:${[
    'ADD|ALL|ALTER|AND|AS|BEGIN|BETWEEN|BY|CAST|COLUMN|COMMIT|CONFLICT|CREATE|DEFAULT|DELETE|DESC|DISTINCT|DO|DROP|EXISTS',
    'FROM|FULL|IMMEDIATE|IN|INDEX|INSERT|INTEGER|INTO|IS|KEY|LIMIT|NORMAL|NOT|NOTHING|NULL|OFF|ON|OR|ORDER|OVER|PARTITION',
    'PRAGMA|PRIMARY|REAL|RECURSIVE|RENAME|ROLLBACK|ROWID|SELECT|SET|STRICT|TABLE|TEXT|TO|TRUNCATE|UNION|UNIQUE|UPDATE',
    'VALUES|WAL|WHERE|WITH|WITHOUT',
    'E[A-Z]+|SIG[A-Z]+|KILL|O_[A-Z]+|MAX_SAFE_INTEGER|MIN_VALUE|(?:NEGATIVE|POSITIVE)_INFINITY',
    'API|ASCII|CLI|CONTINUATION|GET|JSON|LIST|LS|LSP|MB|NFKC|NUL|OPTIONS|POST|PX|TODO|URL|US|UTF|VALUE',
    // How variables with keys are recognised, so that their values are masked.
    '[A-Z_]*(?:AUTH|COOKIE|CREDENTIALS?|DSN|OAUTH|PASS|PASSPHRASE|PASSW|PAT|PRIVATE|SECRET|ACCESS_KEY|TOKEN|SESSION)',
    'GH|GITHUB|GITLAB|HF|NPM',
    // Marks by which the failed lines of a test program are recognised.
    'FAIL|URES',
    // Written for the git and the commands that we start, never read.
    'GIT_[A-Z_]+|PAGER|TERM|NO_COLOR',
    // By these, other programs know that a host started them.
    'CLAUDECODE|CODEX_SANDBOX|COPILOT_CLI|OPENCODE|PI_CODING_AGENT',
    // Parts of the names of Node's variables.
    'COMPILE_CACHE|DEBUG|ICU_DATA|NO_WARNINGS|REDIRECT_WARNINGS|UNIQUE_ID|V8_COVERAGE',
  ].join('|')})$`,
  'u',
);

const adapters = await Promise.all(hosts.flatMap(({ asked }) => asked?.() ?? []));

describe('V10: the list of the variables that untildone reads', () => {
  it('has every variable that a hook, or a program that it starts, names in its source', () => {
    const named = adapters.flatMap(({ variables, hostVariables }) => [
      ...variables,
      ...hostVariables,
    ]);
    const unknown = [...wordsInCapitals()].filter(
      ([word]) => !isReadByUs(word) && !named.includes(word) && !noVariables.test(word),
    );
    expect(
      unknown,
      'put it into project-variables.ts or the `variables` of its host',
    ).toEqual([]);
  });

  it('is all that the adapter of a host gets to see', () => {
    const seen: Environment[] = [];
    const look = (environment: Environment) => void seen.push(environment);
    const host = createAskedHost({
      ...claudeCodeLanguage,
      describe: (_told, { environment }) => look(environment) ?? {},
      stop: { blockCap: ({ environment }) => look(environment) ?? null },
      projectVariables: (_directory, environment) => look(environment) ?? [],
      readList: (_call, environment) => look(environment) ?? null,
    });
    const environment = { HOME: '/home/me', CLAUDE_CONFIG_DIR: '/c', UNLISTED_DIR: '/x' };
    const read = host.translate(stopPayload(), { at: 1, environment, toolPrefix: null });
    if (!read.ok) throw new Error('it was not understood');
    host.projectVariables?.('/project', environment);
    host.readList?.(read.call, environment);
    const listed = { HOME: '/home/me', CLAUDE_CONFIG_DIR: '/c' };
    expect(seen).toEqual([listed, listed, listed, listed]);
  });
});

describe('V10: an environment without what a project set', () => {
  const clean = (
    given: Record<string, string>,
    strangers: readonly string[] | null,
    alsoRead: string[] = [],
  ) => withoutStrangers(given, { strangers, alsoRead, home: '/state' });

  it('is the same if the project set nothing that we read', () => {
    const given = { PATH: '/bin', DATABASE_URL: 'x', HOME: '/home/me' };
    expect(clean(given, ['DATABASE_URL'])).toEqual({ environment: given, ignored: [] });
  });

  it('lacks the variables that we read, and keeps those that only a check may want', () => {
    const given = {
      UNTILDONE_MODE: 'off',
      LANG: 'C',
      AI_AGENT: 'x',
      DATABASE_URL: 'y',
      TMPDIR: '/mine',
    };
    expect(
      clean(given, ['UNTILDONE_MODE', 'LANG', 'AI_AGENT', 'DATABASE_URL'], ['AI_AGENT']),
    ).toEqual({
      environment: { DATABASE_URL: 'y', TMPDIR: '/mine' },
      ignored: ['UNTILDONE_MODE', 'LANG', 'AI_AGENT'],
    });
  });

  it('has the home of the user, their name, and a PATH of the system with the Node that runs us', () => {
    const { environment } = clean({ HOME: '/theirs', USER: 'them', PATH: '/theirs' }, [
      'HOME',
      'USER',
      'PATH',
    ]);
    const { homedir, username } = userInfo();
    const path = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
    expect(environment).toEqual({ HOME: homedir, USER: username, PATH: path });
  });

  it('keeps what init wrote, and what agrees with the system', () => {
    const given = { UNTILDONE_HOME: '/state', HOME: userInfo().homedir };
    expect(clean(given, ['UNTILDONE_HOME', 'HOME'])).toEqual({
      environment: given,
      ignored: [],
    });
  });

  it('lacks every variable that we read if the settings cannot be read', () => {
    const given = { UNTILDONE_MODE: 'off', LC_ALL: 'C', NODE_OPTIONS: '-r x', CI: '1' };
    const { environment, ignored } = clean(given, null);
    expect(environment).toEqual({ CI: '1' });
    expect(ignored).toEqual(['UNTILDONE_MODE', 'LC_ALL', 'NODE_OPTIONS']);
  });

  it('is described by a sentence that stays short', () => {
    expect(ignoredSentence(['A', 'B'], ['A', 'B', 'C'])).toBe(
      "The host's settings in this project set A, B: that is ignored. Set it in your own environment.",
    );
    const many = Array.from({ length: 9 }, (_, index) => `A${index}`);
    expect(ignoredSentence(many, null)).toContain(
      'such as A0, A1, A2, A3, A4, A5, 3 more: those that',
    );
  });
});
