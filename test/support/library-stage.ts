// For tests of the library: a folder to work in, a place for what the user keeps, and a
// scripted model with a client of the AI SDK.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenAI } from '@ai-sdk/openai';
import { onTestFinished } from 'vitest';
import {
  type Script,
  type Step,
  script,
  startScriptedModel,
} from '../../src/scripted-model/index.ts';
import {
  openSession,
  type Session,
  type SessionOptions,
} from '../../src/session/session.ts';

// The SDK would print a warning for each model whose name it does not know.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

export function createLibraryStage() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-library-')));
  const [directory, home] = ['work', 'home'].map((name) => join(base, name)) as [
    string,
    string,
  ];
  mkdirSync(directory);
  const environment = {
    PATH: process.env['PATH'],
    HOME: home,
    UNTILDONE_HOME: join(home, 'state'),
  };
  const opened: Session[] = [];
  onTestFinished(async () => {
    for (const session of opened) await session.close().catch(() => {});
    rmSync(base, { recursive: true, force: true });
  });
  return {
    directory,
    environment,
    store: join(base, 'own', 'store.db'),
    put: (name: string, content: string) => writeFileSync(join(directory, name), content),
    async open(options: SessionOptions = {}): Promise<Session> {
      const session = await openSession({
        store: ':memory:',
        directory,
        environment,
        ...options,
      });
      opened.push(session);
      return session;
    },
  };
}

/** A model that plays these steps, and how often it was asked. */
export async function startModel(...steps: Step[]) {
  const server = await startScriptedModel({
    scripts: [script('story', steps) as Script],
  });
  onTestFinished(() => server.close());
  const client = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'any' });
  return { model: client.chat('story'), server, requests: server.requests };
}

/** Titles as todos; their ids. */
export async function planned({ tools }: Session, ...titles: string[]) {
  const result = await tools.create_todo.execute({
    items: titles.map((title) => ({ title })),
  });
  return (result as { created: { id: string }[] }).created.map(({ id }) => id);
}
export const finish = ({ tools }: Session, todoId: string | undefined) =>
  tools.complete_todo.execute({ todoId, outcome: 'written' });
