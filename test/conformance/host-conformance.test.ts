// Every driver in this folder, one a host, and the two scripted hosts.
import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { hosts } from '../../src/hosts/hosts.ts';
import type { HostUnderTest } from './driven-host.ts';
import { describeHost } from './host-conformance.ts';
import { scriptedHost } from './scripted-driver.ts';

const isHost = (value: unknown): value is HostUnderTest =>
  typeof value === 'object' && value !== null && 'capabilities' in value;

const files = globSync('*-driver.ts', { cwd: import.meta.dirname }).sort();
const modules = await Promise.all(
  files.map((file): Promise<object> => import(`./${file}`)),
);
const driven = modules.flatMap((module) => Object.values(module).filter(isHost));

it('every host of the table has a driver', () => {
  const names = driven.map(({ capabilities }) => capabilities.name);
  expect(names.sort()).toEqual(hosts.map(({ name }) => name).sort());
});

for (const host of [scriptedHost('asked'), scriptedHost('told'), ...driven])
  describeHost(host);
