// A project of its own for one test: a folder under git, a home and a state directory
// that nobody else uses, and an environment that carries nothing over from whoever runs
// the tests. Loopback is the only network it knows of.
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Project {
  /** Holds everything below; removed at the end. */
  readonly root: string;
  readonly directory: string;
  readonly home: string;
  readonly state: string;
  readonly environment: Readonly<Record<string, string>>;
  write(name: string, text: string): void;
  /** Null: there is no such file. */
  read(name: string): string | null;
  /** Changes a JSON file; the type of its content is the caller's word. */
  editJson<Content>(path: string, edit: (content: Content) => void): void;
  /** Names in the folder, without those that begin with a dot. */
  files(): readonly string[];
  remove(): void;
}

export function createProject(): Project {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-host-')));
  const place = (name: string): string => {
    mkdirSync(join(root, name));
    return join(root, name);
  };
  const [directory, home, state, temporary] = ['project', 'home', 'state', 'tmp'].map(
    place,
  ) as [string, string, string, string];
  const environment = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: home,
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    UNTILDONE_HOME: state,
    // What Node has compiled is kept, as it is on anyone's machine: else each start of a
    // host would be its first.
    NODE_COMPILE_CACHE: join(tmpdir(), 'compiled'),
  };
  execFileSync('git', ['init', '--quiet'], { cwd: directory, env: environment });
  return {
    root,
    directory,
    home,
    state,
    environment,
    write: (name, text) => writeFileSync(join(directory, name), text),
    read(name) {
      try {
        return readFileSync(join(directory, name), 'utf8');
      } catch {
        // Safe: the answer is that it is not there, and the test says whether that is
        // right.
        return null;
      }
    },
    editJson(path, edit) {
      const content = JSON.parse(readFileSync(path, 'utf8'));
      edit(content);
      writeFileSync(path, JSON.stringify(content, null, 2));
    },
    files: () =>
      readdirSync(directory)
        .filter((name) => !name.startsWith('.'))
        .sort(),
    remove() {
      if (process.env['UNTILDONE_KEEP_PROJECTS'] === '1') console.log(`kept: ${root}`);
      else rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}
