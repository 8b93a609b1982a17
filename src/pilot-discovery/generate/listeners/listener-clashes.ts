import type { Environment } from '../../environment/environment.ts';
import type { ResourceKey } from '../../istio/documents/model.ts';
import { memoTable } from '../scope/memo.ts';
import { plainChain } from '../scope/mesh-connections.ts';
import { type OutboundBinding, outboundBindings } from '../scope/outbound-bindings.ts';
import { outboundEntries, type OutboundEntry } from '../scope/outbound-entries.ts';
import { visibleServices } from '../scope/visible-services.ts';

/** A port of a service that has no listener if connections are redirected. */
export interface ListenerClash {
  /** The service of the port. */
  readonly key: ResourceKey;
  /** The service that has the listener, and why both cannot have it. */
  readonly reason: string;
}

const clashes = memoTable<readonly ListenerClash[]>();

/**
 * Returns ports of services visible to all namespaces that have no listener: their connections
 * cannot be distinguished from those of an older service. Computed once for the same services.
 */
export function listenerClashes(environment: Environment): readonly ListenerClash[] {
  return clashes([environment.services], '', () => {
    const services = [...visibleServices(environment, { namespace: '' }).values()];
    const bindings = outboundBindings(
      environment,
      { addresses: [], interception: 'redirect', ownPorts: [], bindable: 'any' },
      services,
      undefined,
    );
    return outboundEntries(bindings, (binding) => [plainChain(binding)]).flatMap((entry) =>
      entry.left.map((binding) => clashOf(entry, binding)),
    );
  });
}

function clashOf(
  { address, chains }: OutboundEntry,
  { service, port, range }: OutboundBinding,
): ListenerClash {
  const first = chains[0]?.binding;
  const place =
    range === '' ? (address === '0.0.0.0' ? 'without an address' : `at ${address}`) : `at ${range}`;
  const older =
    first === undefined
      ? 'another service'
      : `${first.service.host} (${first.service.key}, ${first.port.protocol})`;
  const reason = `the port ${port.number} of ${service.host} is not served ${place}, because ${older} has it there and is older: give ${service.host} an address of its own, or another port`;
  return { key: service.key, reason };
}
