// Every framework, by its drivers. A new one is a file of drivers and a line here.
import { fileURLToPath } from 'node:url';
import { type FrameworkDriver, testFramework } from './conformance.ts';

for (const framework of ['ai-sdk', 'langchain', 'openai-agents', 'mastra']) {
  const file = fileURLToPath(new URL(`${framework}-drivers.ts`, import.meta.url));
  const { drivers } = (await import(file)) as { drivers: readonly FrameworkDriver[] };
  for (const driver of drivers) testFramework(driver, file);
}
