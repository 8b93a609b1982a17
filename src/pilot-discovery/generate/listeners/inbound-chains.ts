import type { MeshConfig } from '../../istio/mesh/mesh-config.ts';
import type { IngressTls } from '../../istio/workloads/sidecar.ts';
import type { Protocol } from '../../istio/fields/values.ts';
import type {
  FilterChainMatchSchema,
  FilterChainSchema,
} from '../../../shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import { mutualTls, ownTls } from '../tls/downstream-tls.ts';
import type { AccessFilters } from './access-filters.ts';
import { inboundManager } from './http-connection-manager.ts';
import { inboundRoutes } from '../routes/inbound-routes.ts';
import { plainHttpProtocols } from './listener-filters.ts';
import type { Reporting } from './reporting.ts';
import { type ListenerKind, listenerKindOf } from '../scope/outbound-bindings.ts';
import type { SetMode } from '../scope/peer-authentication-of.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { blackHole, tcpFilters } from './tcp-chain.ts';
import type { Init, TypedConfig } from '../encoding/typed-config.ts';

type FilterChain = Init<typeof FilterChainSchema>;
type Match = Init<typeof FilterChainMatchSchema>;

/** A served port, with the inputs of its chains. */
export interface InboundPort {
  /** The names of the HTTP and of the TCP chains: `0.0.0.0_8080`. */
  readonly httpName: string;
  readonly tcpName: string;
  /** The destination port; undefined for all ports that have no other chain. */
  readonly port: number | undefined;
  readonly protocol: Protocol;
  /** If it is `closed`, no client may connect. */
  readonly mode: SetMode;
  /** The TLS of this port, for clients outside of the mesh. */
  readonly tls: IngressTls | undefined;
  readonly cluster: string;
  readonly statPrefix: string;
  /** The host after which spans are named, with the port of its service. */
  readonly host: string;
  readonly servicePort: number;
  /** The path of the resource that the metadata of the chains name; '' for none. */
  readonly config: string;
}

/** The ALPN protocols that peers in the mesh offer, for HTTP and for other protocols. */
const meshHttp = ['istio-http/1.0', 'istio-http/1.1', 'istio-h2'];
const meshTcp = ['istio-peer-exchange', 'istio'];
/** The ALPN of all clients in the mesh. */
export const meshProtocols = ['istio', 'istio-peer-exchange', ...meshHttp];

/** Returns the chains of one port, by its protocol and its mode. */
export function inboundChains(
  mesh: MeshConfig,
  node: ProxyNode,
  access: AccessFilters,
  reporting: Reporting,
  port: InboundPort,
): FilterChain[] {
  const portMatch: Match = port.port === undefined ? {} : { destinationPort: port.port };
  const metadata = port.config !== '' && {
    metadata: { filterMetadata: { istio: { config: port.config } } },
  };
  if (port.mode === 'closed')
    return [{ name: port.tcpName, filterChainMatch: portMatch, filters: [blackHole], ...metadata }];
  const kinds =
    port.tls === undefined
      ? matches(listenerKindOf(port.protocol), port.mode)
      : matchesWithTls(port.protocol === 'https', port.mode);
  const sockets: Readonly<Record<Ends, () => { readonly transportSocket?: TypedConfig }>> = {
    nowhere: () => ({}),
    mesh: () => ({ transportSocket: mutualTls(mesh, node) }),
    own: () => (port.tls === undefined ? {} : { transportSocket: ownTls(port.tls) }),
  };
  return kinds.map(({ http, tls, ...match }) => ({
    name: http ? port.httpName : port.tcpName,
    filterChainMatch: { ...portMatch, ...match },
    filters: http
      ? [inboundManager(reporting, node, access.http, port, inboundRoutes(port))]
      : [...access.tcp, ...tcpFilters(reporting, port.cluster, port.protocol)],
    ...sockets[tls](),
    ...metadata,
  }));
}

/** The TLS that a chain terminates: none, that of the mesh, or that of the port. */
type Ends = 'nowhere' | 'mesh' | 'own';

type OpenMode = Exclude<SetMode, 'closed'>;

interface ChainKind extends Match {
  readonly http: boolean;
  readonly tls: Ends;
}

/**
 * Returns the chains of a port that has its own TLS: none of them takes plain text. If the mode is
 * STRICT, only the mutual TLS of the mesh is left, as in Istio.
 */
function matchesWithTls(http: boolean, mode: OpenMode): ChainKind[] {
  const ownTlsChain: ChainKind = { transportProtocol: 'tls', http, tls: 'own' };
  if (mode === 'disable') return [ownTlsChain];
  if (mode === 'strict') return matches(http ? 'http' : 'tcp', mode);
  return [
    { transportProtocol: 'tls', applicationProtocols: meshProtocols, http, tls: 'mesh' },
    ownTlsChain,
  ];
}

function matches(kind: ListenerKind, mode: OpenMode): ChainKind[] {
  const http = kind === 'http';
  const tls = { transportProtocol: 'tls' };
  const plain = { transportProtocol: 'raw_buffer' };
  const plainHttp: ChainKind = {
    ...plain,
    applicationProtocols: [...plainHttpProtocols],
    http: true,
    tls: 'nowhere',
  };
  const foreignTls: ChainKind = { ...tls, http: false, tls: 'nowhere' };
  if (kind === 'auto') {
    const meshHttpTls: ChainKind = {
      ...tls,
      applicationProtocols: meshHttp,
      http: true,
      tls: 'mesh',
    };
    if (mode === 'strict') return [meshHttpTls, { ...tls, http: false, tls: 'mesh' }];
    if (mode === 'disable') return [plainHttp, { ...plain, http: false, tls: 'nowhere' }];
    const meshTcpTls: ChainKind = {
      ...tls,
      applicationProtocols: meshTcp,
      http: false,
      tls: 'mesh',
    };
    return [
      meshHttpTls,
      plainHttp,
      meshTcpTls,
      { ...plain, http: false, tls: 'nowhere' },
      foreignTls,
    ];
  }
  if (mode === 'strict') return [{ ...tls, http, tls: 'mesh' }];
  if (mode === 'disable') return [{ ...plain, http, tls: 'nowhere' }];
  const meshTls: ChainKind = { ...tls, applicationProtocols: meshProtocols, http, tls: 'mesh' };
  return http
    ? [meshTls, { ...plain, http, tls: 'nowhere' }]
    : [meshTls, foreignTls, { ...plain, http, tls: 'nowhere' }];
}
