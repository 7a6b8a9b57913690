// Builds the docs site into a folder of its own and serves it on loopback.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};

export interface Built {
  readonly ok: boolean;
  /** What the build printed. */
  readonly output: string;
  /** Where the pages are. */
  readonly folder: string;
  remove(): void;
}

/** A copy of docs/ is built, so that a test may change it first. */
export async function buildSite(
  change: (docs: string) => void = () => {},
): Promise<Built> {
  const copy = mkdtempSync(join(tmpdir(), 'untildone-site-'));
  const docs = join(copy, 'docs');
  cpSync(join(root, 'docs'), docs, {
    recursive: true,
    filter: (path) => !/\.vitepress\/(dist|cache)$/.test(path),
  });
  cpSync(join(root, 'package.json'), join(copy, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  change(docs);
  const program = join(root, 'node_modules/vitepress/bin/vitepress.js');
  const built = await promisify(execFile)(process.execPath, [program, 'build', docs], {
    cwd: copy,
    maxBuffer: 50_000_000,
  }).then(
    ({ stdout, stderr }) => ({ ok: true, output: stdout + stderr }),
    (error: { stdout: string; stderr: string }) => ({
      ok: false,
      output: error.stdout + error.stderr,
    }),
  );
  return {
    ...built,
    folder: join(docs, '.vitepress/dist'),
    remove: () => rmSync(copy, { recursive: true, force: true }),
  };
}

export async function serve(
  folder: string,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(
      new URL(request.url ?? '/', 'http://localhost').pathname,
    );
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
    try {
      const content = readFileSync(file);
      response.writeHead(200, {
        'content-type': types[extname(file)] ?? 'application/octet-stream',
      });
      response.end(content);
    } catch {
      // Safe: whoever asked sees the 404, and a test fails by it.
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
