import { isIP } from 'node:net';
import type { Protocol } from '../../istio/values.ts';
import type { ServicePort } from '../../istio/service-entry.ts';
import {
  serviceKey,
  type Environment,
  type ServiceEndpoints,
} from '../../environment/environment.ts';
import { isPartialWildcard } from '../../istio/host-names.ts';
import { bindAddresses, mayBind } from './bind-address.ts';
import { memoTable, steadyLists } from './memo.ts';
import type { ProxyNode } from './proxy-node.ts';
import type { Services, VisibleService } from './visible-services.ts';
import { isHttp, isTls } from '../../istio/is-http.ts';

/** The address and the match of a listener for one port of a service. */
export interface OutboundBinding {
  readonly service: VisibleService;
  readonly port: ServicePort;
  readonly kind: ListenerKind;
  readonly address: string;
  /** Whether others share the address: hosts, names or ranges then distinguish them. */
  readonly shared: boolean;
  /** The range that the service has instead of an address; '' for none. */
  readonly range: string;
  /** The server name that TLS must request; '' for any. */
  readonly serverName: string;
}

/** The protocol of a connection: unknown bytes, HTTP, or to be detected. */
export type ListenerKind = 'tcp' | 'http' | 'auto';

export const listenerKindOf = (protocol: Protocol): ListenerKind =>
  protocol === 'auto' ? 'auto' : isHttp(protocol) ? 'http' : 'tcp';

/** The ports of the listeners for redirected connections. */
const captured: readonly number[] = [15_001, 15_006];

type Node = Pick<ProxyNode, 'addresses' | 'interception' | 'ownPorts' | 'bindable'>;

/** Returns all bindings of the ports of services, in the order of the services. Pure. */
export function outboundBindings(
  environment: Pick<Environment, 'endpoints'>,
  node: Node,
  services: readonly VisibleService[],
): OutboundBinding[] {
  const { wildcard, local } = bindAddresses(node);
  const bound = node.interception === 'none';
  // Envoy rejects two listeners at one address, whether they bind to it or not.
  const isTaken = ({ address, port }: OutboundBinding) =>
    address === wildcard && [...captured, ...node.ownPorts].includes(port.number);
  const bindings = services.flatMap((service) =>
    service.ports.flatMap((port) =>
      (service.addressesAt.get(port.number) ?? ['']).flatMap(
        (serviceAddress): OutboundBinding[] => {
          if (port.protocol === 'udp' || (bound && !mayBind(node, port.number))) return [];
          const kind = listenerKindOf(port.protocol);
          const binding = { service, port, kind, range: '' };
          const addressed = serviceAddress !== '' && !serviceAddress.includes('/');
          const serverName = isTls(port.protocol) && !addressed ? service.host : '';
          if (bound)
            return [
              {
                ...binding,
                address: local,
                shared: false,
                serverName: serviceAddress === '' ? '' : serverName,
              },
            ];
          if (kind === 'http')
            return [{ ...binding, address: wildcard, shared: true, serverName: '' }];
          if (addressed)
            return [
              {
                ...binding,
                address: serviceAddress,
                shared: serviceAddress === wildcard,
                serverName: '',
              },
            ];
          const each =
            serviceAddress === '' && service.resolution === 'none'
              ? ownAddresses(environment, node, service, port)
              : undefined;
          return (
            each?.map((address) => ({ ...binding, address, shared: false, serverName: '' })) ?? [
              { ...binding, address: wildcard, shared: true, range: serviceAddress, serverName },
            ]
          );
        },
      ),
    ),
  );
  // Envoy rejects a listener with such a server name; the reader of the resource warns of it.
  return bindings.filter((binding) => !isTaken(binding) && !isPartialWildcard(binding.serverName));
}

/** Returns whether each endpoint of a service has a listener, if the endpoints are known. */
const isByEndpoint = ({ resolution, addressesAt }: VisibleService): boolean =>
  resolution === 'none' && [...addressesAt.values()].some((addresses) => addresses.includes(''));

/**
 * Returns the endpoints' addresses that each have a listener; undefined if there is one for all.
 */
function ownAddresses(
  { endpoints }: Pick<Environment, 'endpoints'>,
  node: Node,
  service: VisibleService,
  port: ServicePort,
): string[] | undefined {
  const known = endpoints.get(serviceKey(service))?.get(port.number) ?? [];
  // A client that has looked up a headless service only connects to addresses that it has.
  if (known.length === 0) return service.registry === 'Service' ? [] : undefined;
  return known
    .map(({ address }) => address)
    .filter((address) => isIP(address) !== 0 && address !== node.addresses[0]);
}

const byEndpoint = memoTable<readonly VisibleService[]>();
const boundNow = memoTable<readonly (ServiceEndpoints | undefined)[]>();
const steady = steadyLists<ServiceEndpoints | undefined>();

/** Returns the endpoints on which bindings depend: the same object as long as they are the same. */
export function boundEndpoints(
  { endpoints }: Pick<Environment, 'endpoints'>,
  services: Services,
): readonly (ServiceEndpoints | undefined)[] {
  const bound = byEndpoint([services], '', () => [...services.values()].filter(isByEndpoint));
  return boundNow([services, endpoints], '', () =>
    steady(
      services,
      bound.map((service) => endpoints.get(serviceKey(service))),
    ),
  );
}
