import { isVisible } from '../generate/visible-services.ts';
import { keyOf, type ResourceKey } from '../mesh/model.ts';
import { type Environment, serviceKey } from '../snapshot/environment.ts';

/**
 * The ports of services, as `host:port`, that have no endpoint, although all are known here. Pure.
 */
export function withoutEndpoints({ services, endpoints }: Environment): readonly string[] {
  return [...services.values()].flat().flatMap((service) => {
    if (service.resolution !== 'static') return [];
    const known = endpoints.get(serviceKey(service));
    return service.ports.filter(({ number }) => (known?.get(number) ?? []).length === 0).map(({ number }) => `${service.host}:${number}`);
  });
}

/** Two VirtualServices for a host, of which only the first is used. */
interface DuplicateHost {
  readonly host: string;
  readonly used: ResourceKey;
  readonly unused: ResourceKey;
}

/** Hosts that two VirtualServices of the mesh have, where one namespace sees both. Pure. */
export function duplicateHosts({ virtualServices }: Environment): readonly DuplicateHost[] {
  const found: DuplicateHost[] = [];
  const byHost = new Map<string, (typeof virtualServices)[number]>();
  for (const rule of virtualServices) {
    if (rule.spec.gateways.length > 0 && !rule.spec.gateways.includes('mesh')) continue;
    for (const host of rule.spec.hosts) {
      const older = byHost.get(host);
      if (older === undefined) byHost.set(host, rule);
      else if (isVisible(older.spec.exportTo, older.namespace, rule.namespace))
        found.push({ host, used: keyOf(older), unused: keyOf(rule) });
    }
  }
  return found;
}
