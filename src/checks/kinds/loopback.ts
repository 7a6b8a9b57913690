// Which addresses are this machine's own, and a resolver of names that answers with nothing else. The connection goes
// to the very address that was looked at: a name that answers differently the second time gains nothing.
import type { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

export const notOnThisMachine = 'it is not on this machine; a check of another host needs anyHost: true';

export function isLoopback(address: string): boolean {
  // A v4 address written as v6 is the v4 address.
  const plain = address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/iu, '');
  const family = isIP(plain);
  return family !== 0 && loopback.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

/** Refuses a name of which a single address is elsewhere. */
export function createLoopbackLookup(resolve: typeof lookup): LookupFunction {
  return (name, options, callback) => {
    resolve(name, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isLoopback(address)))
        return callback(new Error(notOnThisMachine), []);
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
