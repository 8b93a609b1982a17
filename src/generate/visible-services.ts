import type { ExportTo } from '../mesh/values.ts';
import type { Environment, Service } from '../snapshot/environment.ts';
import { memoTable } from './memo.ts';
import type { ProxyNode } from './proxy-node.ts';

/** Whether what a namespace exports so is seen from another, or from itself. */
export function isVisible(exportTo: ExportTo, from: string, to: string): boolean {
  return exportTo.length === 0 || exportTo.some((one) => one === '*' || one === to || (one === '.' && from === to));
}

/**
 * The services that a proxy sees, one for each host, oldest first: that of its own namespace, else
 * the oldest. Entries of one namespace for a host that are resolved alike are one service with the
 * ports of all. The same object for as long as the services are the same.
 */
export function visibleServices({ services }: Environment, { namespace }: Pick<ProxyNode, 'namespace'>): ReadonlyMap<string, Service> {
  return all([services], namespace, () => {
    const seen = [...services.values()].flatMap((same) => serviceFor(same, namespace) ?? []);
    return new Map(seen.sort(byAge).map((service) => [service.host, service]));
  });
}

const all = memoTable<ReadonlyMap<string, Service>>();
const one = memoTable<Service | undefined>();

function serviceFor(same: readonly Service[], namespace: string): Service | undefined {
  return one([same], namespace, () => {
    const visible = same.filter((service) => isVisible(service.exportTo, service.namespace, namespace));
    const first = visible.find((service) => service.namespace === namespace) ?? visible[0];
    if (first === undefined) return undefined;
    return joined(visible.filter((other) => other.namespace === first.namespace && other.resolution === first.resolution));
  });
}

function joined(parts: readonly Service[]): Service | undefined {
  const [first] = parts;
  if (first === undefined || parts.length === 1) return first;
  const ports = new Map(parts.flatMap((part) => part.ports).reverse().map((port) => [port.number, port])); // prettier-ignore
  return { ...first, ports: [...ports.values()].reverse() };
}

function byAge(a: Service, b: Service): number {
  return a.createdMs - b.createdMs || compare(`${a.host}.${a.namespace}`, `${b.host}.${b.namespace}`);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
