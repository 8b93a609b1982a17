import { isIP } from 'node:net';
import type { Protocol } from '../mesh/values.ts';
import type { ServicePort } from '../mesh/service-entry.ts';
import { serviceKey, type Environment, type Service, type ServiceEndpoints } from '../snapshot/environment.ts';
import { bindAddresses } from './bind-address.ts';
import type { ProxyNode } from './proxy-node.ts';

/** Where a port of a service is listened for. */
export interface OutboundBinding {
  readonly service: Service;
  readonly port: ServicePort;
  readonly kind: ListenerKind;
  readonly address: string;
  /** Whether others share the address: their hosts, names or ranges then tell them apart. */
  readonly shared: boolean;
  /** The range that the service has instead of an address; '' for none. */
  readonly range: string;
  /** The name that TLS has to ask for; '' for any. */
  readonly serverName: string;
}

/** What is understood of a connection: nothing, HTTP, or what it turns out to be. */
export type ListenerKind = 'tcp' | 'http' | 'auto';

const kinds: Readonly<Partial<Record<Protocol, ListenerKind>>> = {
  http: 'http',
  http2: 'http',
  grpc: 'http',
  'grpc-web': 'http',
  auto: 'auto',
};

export const listenerKindOf = (protocol: Protocol): ListenerKind => kinds[protocol] ?? 'tcp';

/** The ports that the listeners for redirected connections have. */
const captured: readonly number[] = [15_001, 15_006];

type Node = Pick<ProxyNode, 'addresses' | 'interception' | 'ownPorts'>;

/** All bindings of the ports of services, in the order of the services. Pure. */
export function outboundBindings(environment: Pick<Environment, 'endpoints'>, node: Node, services: readonly Service[]): OutboundBinding[] {
  const { wildcard, local } = bindAddresses(node);
  const bound = node.interception === 'none';
  // Envoy refuses two listeners at an address, whether they bind to it or not.
  const isTaken = ({ address, port }: OutboundBinding) => address === wildcard && [...captured, ...node.ownPorts].includes(port.number);
  const bindings = services.flatMap((service) =>
    addressesOf(service).flatMap((serviceAddress) =>
      service.ports.flatMap((port): OutboundBinding[] => {
        if (port.protocol === 'udp') return [];
        const kind = listenerKindOf(port.protocol);
        const binding = { service, port, kind, range: '' };
        const addressed = serviceAddress !== '' && !serviceAddress.includes('/');
        const serverName = isTls(port.protocol) && !addressed ? service.host : '';
        if (bound) return [{ ...binding, address: local, shared: false, serverName: serviceAddress === '' ? '' : serverName }];
        if (kind === 'http') return [{ ...binding, address: wildcard, shared: true, serverName: '' }];
        if (addressed) return [{ ...binding, address: serviceAddress, shared: serviceAddress === wildcard, serverName: '' }];
        const each = isByEndpoint(service) ? ownAddresses(environment, node, service, port) : undefined;
        return (
          each?.map((address) => ({ ...binding, address, shared: false, serverName: '' })) ?? [
            { ...binding, address: wildcard, shared: true, range: serviceAddress, serverName },
          ]
        );
      }),
    ),
  );
  return bindings.filter((binding) => !isTaken(binding));
}

/** Each address is listened for on its own; a range of one address is an address. */
function addressesOf({ addresses }: Service): readonly string[] {
  return addresses.length === 0 ? [''] : addresses.map((address) => address.replace(/^([^:]*)\/32$|^(.*:.*)\/128$/, '$1$2'));
}

/** Whether each endpoint of a service has a listener, where they are known. */
const isByEndpoint = ({ resolution, addresses }: Service): boolean => resolution === 'none' && addresses.length === 0;

/** The addresses of the endpoints that have a listener each; undefined for one for all. */
function ownAddresses(
  { endpoints }: Pick<Environment, 'endpoints'>,
  node: Node,
  service: Service,
  port: ServicePort,
): string[] | undefined {
  const known = endpoints.get(serviceKey(service))?.get(port.number) ?? [];
  if (known.length === 0) return undefined;
  return known.map(({ address }) => address).filter((address) => isIP(address) !== 0 && address !== node.addresses[0]);
}

type Services = ReadonlyMap<string, Service>;

const lookedAt = new WeakMap<Services, readonly (ServiceEndpoints | undefined)[]>();

/** The endpoints that bindings depend on: the same object for as long as they are the same. */
export function boundEndpoints({ endpoints }: Pick<Environment, 'endpoints'>, services: Services): object {
  const now = [...services.values()].filter(isByEndpoint).map((service) => endpoints.get(serviceKey(service)));
  const before = lookedAt.get(services);
  if (before?.length === now.length && now.every((one, index) => one === before[index])) return before;
  lookedAt.set(services, now);
  return now;
}

const isTls = (protocol: Protocol): boolean => protocol === 'tls' || protocol === 'https';
