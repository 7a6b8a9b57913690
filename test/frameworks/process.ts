// A program with an agent of a framework, to be killed in the middle.
import { openSession } from '../../src/session/session.ts';
import type { FrameworkDriver } from './conformance.ts';

const [file = '', name, url = '', store = '', directory = ''] = process.argv.slice(2);
const { drivers } = (await import(file)) as { drivers: readonly FrameworkDriver[] };
const goal = 'migrate the tests';
const session = await openSession({ id: 'killed', goal, store, directory });
const { signal } = new AbortController();
await drivers
  .find((driver) => driver.name === name)
  ?.run(session, { url, goal, tools: {}, signal });
