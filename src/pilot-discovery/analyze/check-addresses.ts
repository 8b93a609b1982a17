import type { Protocol } from '../istio/fields/values.ts';
import { type Check, finding } from './facts.ts';

/** Envoy distinguishes hosts of these protocols only by their addresses. */
const byAddress: ReadonlySet<Protocol> = new Set(['tcp', 'auto', 'mongo', 'redis', 'mysql']);

/** Finds TCP ports of a ServiceEntry that has no address: all connections to the port go there. */
export const checkAddresses: Check = function* ({ entries }) {
  for (const entry of entries) {
    if (entry.spec.addresses.length > 0) continue;
    for (const [index, { number, protocol }] of entry.spec.ports.entries())
      if (byAddress.has(protocol))
        yield finding(
          'IST0134',
          entry,
          `spec.ports[${index}]`,
          `all connections to port ${number} go there, because TCP has no host name: give the entry an address`,
        );
  }
};
