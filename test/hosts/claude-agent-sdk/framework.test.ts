import { fileURLToPath } from 'node:url';
import { testFramework } from '../../frameworks/conformance.ts';
import { drivers } from './drivers.ts';

for (const driver of drivers)
  testFramework(driver, fileURLToPath(new URL('drivers.ts', import.meta.url)));
