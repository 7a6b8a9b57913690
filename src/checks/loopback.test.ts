import type { lookup } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { createLoopbackLookup, isLoopback } from './http-check.ts';

function resolvingTo(...addresses: string[]): typeof lookup {
  const resolve = (
    _name: string,
    _options: object,
    callback: (error: null, found: { address: string; family: number }[]) => void,
  ) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  return resolve as unknown as typeof lookup;
}

function look(all: boolean, ...addresses: string[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    createLoopbackLookup(resolvingTo(...addresses))('name', { all }, (error, address) =>
      error === null ? resolve(address) : reject(error),
    );
  });
}

describe('V1: only this machine is asked', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.255.1.2', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['10.0.0.1', false],
    ['::ffff:10.0.0.1', false],
    ['fe80::1', false],
    ['localhost', false],
  ])('%s: %s', (address, isOwn) => {
    expect(isLoopback(address)).toBe(isOwn);
  });

  it('whatever a name resolves to: one address elsewhere is enough to refuse it', async () => {
    await expect(look(false, '127.0.0.1', '::1')).resolves.toBe('127.0.0.1');
    await expect(look(true, '127.0.0.1', '::1')).resolves.toHaveLength(2);
    for (const all of [true, false]) {
      await expect(look(all, '93.184.216.34')).rejects.toThrow('not on this machine');
      await expect(look(all, '127.0.0.1', '93.184.216.34')).rejects.toThrow(
        'not on this machine',
      );
      await expect(look(all)).rejects.toThrow('not on this machine');
    }
  });
});
