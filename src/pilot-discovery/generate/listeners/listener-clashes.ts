import type { Environment } from '../../environment/environment.ts';
import type { ResourceKey } from '../../istio/documents/model.ts';
import { memoTable } from '../scope/memo.ts';
import { plainChain } from '../scope/mesh-connections.ts';
import { type OutboundBinding, outboundBindings } from '../scope/outbound-bindings.ts';
import { outboundEntries, type OutboundEntry } from '../scope/outbound-entries.ts';
import { visibleServices } from '../scope/visible-services.ts';

/** A service's port that gets no listener in proxies with `interceptionMode: REDIRECT`. */
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
  { service, port, range, serverName, kind }: OutboundBinding,
): ListenerClash {
  const same = chains.find(
    ({ binding }) => binding.range === range && binding.serverName === serverName,
  );
  const first = (same ?? chains[0])?.binding;
  const place = range === '' ? address : range;
  const older =
    first === undefined
      ? 'another service'
      : `the older ${first.service.host} (${first.service.key}, ${first.port.protocol})`;
  // A listener for HTTP is at 0.0.0.0, whatever the address of its service.
  const cause =
    place === '0.0.0.0' && kind !== 'http' ? `${service.host} has no address of its own, and ` : '';
  const remedy = kind === 'http' ? 'another port' : 'an address of its own, or another port';
  const reason = `port ${port.number} of ${service.host} gets no listener at ${place}: ${cause}${older} already has this port there: give ${service.host} ${remedy}`;
  return { key: service.key, reason };
}
