import type { Environment, Service } from '../environment/environment.ts';
import type { ResourceKey } from '../istio/documents/model.ts';

/** A service that is not joined with the service of its host in another registry. */
export interface RegistryConflict {
  readonly host: string;
  /** The service that comes first. */
  readonly used: ResourceKey;
  readonly key: ResourceKey;
  /** The difference, and its consequence. */
  readonly reason: string;
}

/**
 * Returns the services of a host that several registries have, if they are not one service: their
 * namespaces, their resolutions or the protocols of a port differ. Pure.
 */
export function registryConflicts({
  services,
}: Pick<Environment, 'services'>): readonly RegistryConflict[] {
  return [...services.values()].flatMap((entries) => {
    const [first, ...others] = entries;
    if (first === undefined) return [];
    return others
      .filter(({ registry }) => registry !== first.registry)
      .flatMap((service) => {
        const reason = differenceOf(first, service);
        return reason === undefined
          ? []
          : [{ host: first.host, used: first.key, key: service.key, reason }];
      });
  });
}

function differenceOf(first: Service, service: Service): string | undefined {
  const { host, key } = first;
  if (service.namespace !== first.namespace)
    return `it is not joined with ${key}, which has the host ${host} in another namespace: proxies of ${service.namespace} call this one, all others call that one`;
  if (service.resolution !== first.resolution)
    return `it is not used: ${key} has the host ${host} with resolution ${first.resolution}, and this one with ${service.resolution}`;
  const port = service.ports.find(({ number, protocol }) =>
    first.ports.some((other) => other.number === number && other.protocol !== protocol),
  );
  const protocol = first.ports.find(({ number }) => number === port?.number)?.protocol;
  return port === undefined
    ? undefined
    : `its protocol ${port.protocol} of port ${port.number} is not used: ${key} has the same host and port with ${protocol}`;
}
