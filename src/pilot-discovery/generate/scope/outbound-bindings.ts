import { isIP } from 'node:net';
import type { Egress } from '../../istio/workloads/sidecar.ts';
import type { Protocol } from '../../istio/fields/values.ts';
import type { ServicePort } from '../../istio/hosts/service-entry.ts';
import {
  serviceKey,
  type Environment,
  type ServiceEndpoints,
} from '../../environment/environment.ts';
import { isPartialWildcard } from '../../istio/fields/host-names.ts';
import { bindAddresses, mayBind } from './bind-address.ts';
import { isForAllPorts } from './imported-services.ts';
import { memoTable, steadyLists } from './memo.ts';
import type { ProxyNode } from './proxy-node.ts';
import { isDynamicDns } from './resolution.ts';
import type { Services, VisibleService } from './visible-services.ts';
import { isHttp, isTls } from '../../istio/fields/is-http.ts';

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
  readonly place: BindingPlace;
}

/** The protocol of a connection: unknown bytes, HTTP, or to be detected. */
export type ListenerKind = 'tcp' | 'http' | 'auto';

export const listenerKindOf = (protocol: Protocol): ListenerKind =>
  protocol === 'auto' ? 'auto' : isHttp(protocol) ? 'http' : 'tcp';

/** The ports of the listeners for redirected connections. */
const captured: readonly number[] = [15_001, 15_006];

type Node = Pick<ProxyNode, 'addresses' | 'interception' | 'ownPorts' | 'bindable'>;

/** The address of the listeners of a block, and how connections reach them. */
export interface BindingPlace {
  /**
   * `bound`: the listener accepts connections itself. `captured`: virtualOutbound hands the
   * connections over.
   */
  readonly mode: 'bound' | 'captured';
  /** `all`: a request names the port of its service, whatever the port of the listener is. */
  readonly ports: 'one' | 'all';
  readonly listensAt:
    { readonly type: 'service' } | { readonly type: 'loopback' | 'bind'; readonly address: string };
}

function placeOf(node: Node, egress: Egress | undefined): BindingPlace {
  const { captureMode = 'default', bind = '' } = egress ?? {};
  const isBound =
    node.interception === 'none' || captureMode === 'none' || egress?.port?.number === 0;
  const mode = isBound ? 'bound' : 'captured';
  const ports = egress !== undefined && isForAllPorts(egress) ? 'all' : 'one';
  if (bind !== '') return { mode, ports, listensAt: { type: 'bind', address: bind } };
  return mode === 'bound'
    ? { mode, ports, listensAt: { type: 'loopback', address: bindAddresses(node).local } }
    : { mode, ports, listensAt: { type: 'service' } };
}

/**
 * Returns all bindings of the ports of services, in the order of the services. Pure.
 *
 * @param egress the block of a Sidecar that names the services
 */
export function outboundBindings(
  environment: Pick<Environment, 'endpoints'>,
  node: Node,
  services: readonly VisibleService[],
  egress: Egress | undefined,
): OutboundBinding[] {
  const { wildcard } = bindAddresses(node);
  const place = placeOf(node, egress);
  // Envoy rejects two listeners at one address, whether they bind to it or not.
  const isTaken = ({ address, port }: OutboundBinding) =>
    address === wildcard && [...captured, ...node.ownPorts].includes(port.number);
  const mayServe = ({ number, protocol }: ServicePort) =>
    protocol !== 'udp' && (place.mode === 'captured' || number === 0 || mayBind(node, number));
  const bindings = services.flatMap((service) =>
    portsOf(service, egress)
      .filter(mayServe)
      .flatMap((port) =>
        (service.addressesAt.get(port.number) ?? ['']).flatMap((address) => {
          const part = { service, port, kind: listenerKindOf(port.protocol), range: '', place };
          const serviceAddress = { wildcard, address };
          return place.listensAt.type === 'service'
            ? ofService(environment, node, part, serviceAddress, egress)
            : [fixed(part, serviceAddress, place.listensAt.address)];
        }),
      ),
  );
  // Envoy rejects a listener with such a server name; the reader of the resource warns of it.
  return bindings.filter((binding) => !isTaken(binding) && !isPartialWildcard(binding.serverName));
}

/** Returns the ports of a service, or the one that a block gives to all of its services. */
function portsOf({ ports }: VisibleService, egress: Egress | undefined): readonly ServicePort[] {
  const port = egress?.port;
  if (port === undefined) return ports;
  const protocol = port.protocol === 'http-proxy' ? 'http' : port.protocol;
  return [{ number: port.number, protocol, name: '', targetPort: undefined }];
}

type Part = Omit<OutboundBinding, 'address' | 'shared' | 'serverName'>;

interface ServiceAddress {
  readonly wildcard: string;
  /** '' if the service has none. */
  readonly address: string;
}

const isOne = (address: string): boolean => address !== '' && !address.includes('/');

function fixed(part: Part, { wildcard, address }: ServiceAddress, bind: string): OutboundBinding {
  const isNamed =
    isTls(part.port.protocol) &&
    (isDynamicDns(part.service) || (address === '' ? bind === wildcard : !isOne(address)));
  return {
    ...part,
    address: bind,
    shared: bind === wildcard && part.place.ports === 'one',
    serverName: isNamed ? part.service.host : '',
  };
}

/** Returns the bindings at an address of a service, or of its endpoints. */
function ofService(
  environment: Pick<Environment, 'endpoints'>,
  node: Node,
  part: Part,
  { wildcard, address }: ServiceAddress,
  egress: Egress | undefined,
): OutboundBinding[] {
  const { service, port, kind } = part;
  const shared = { ...part, address: wildcard, shared: true, serverName: '' };
  const named = isTls(port.protocol) ? service.host : '';
  if (kind === 'http') return [{ ...shared, shared: part.place.ports === 'one' }];
  if (isOne(address)) {
    const serverName = isDynamicDns(service) ? named : '';
    return [{ ...shared, address, shared: address === wildcard, serverName }];
  }
  const endpointAddresses =
    address === '' && service.resolution === 'none' && egress?.port === undefined
      ? ownAddresses(environment, node, service, port)
      : undefined;
  return (
    endpointAddresses?.map((endpointAddress) => ({
      ...shared,
      address: endpointAddress,
      shared: false,
    })) ?? [{ ...shared, range: address, serverName: named }]
  );
}

/** Returns whether each endpoint of a service has a listener, if the endpoints are known. */
const isByEndpoint = ({ resolution, addressesAt }: VisibleService): boolean =>
  resolution === 'none' && [...addressesAt.values()].some((addresses) => addresses.includes(''));

/**
 * Returns the addresses of endpoints that each have a listener; undefined if one listener is for
 * all.
 */
function ownAddresses(
  { endpoints }: Pick<Environment, 'endpoints'>,
  node: Node,
  service: VisibleService,
  port: ServicePort,
): string[] | undefined {
  const portEndpoints = endpoints.get(serviceKey(service))?.get(port.number) ?? [];
  // A client that has looked up a headless service only connects to the addresses of its endpoints.
  if (portEndpoints.length === 0) return service.registry === 'Service' ? [] : undefined;
  return portEndpoints
    .map(({ address }) => address)
    .filter((address) => isIP(address) !== 0 && address !== node.addresses[0]);
}

const byEndpoint = memoTable<readonly VisibleService[]>();
const boundNow = memoTable<readonly (ServiceEndpoints | undefined)[]>();
const steady = steadyLists<ServiceEndpoints | undefined>();

/**
 * Returns the endpoints on which bindings depend. As long as these are the same, the list is the
 * same object.
 */
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
