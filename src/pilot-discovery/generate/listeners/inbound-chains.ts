import type { MeshConfig } from '../../istio/mesh-config.ts';
import type { IngressTls } from '../../istio/sidecar.ts';
import type { Protocol } from '../../istio/values.ts';
import type {
  FilterChainMatchSchema,
  FilterChainSchema,
} from '../../../shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import { mutualTls, ownTls } from '../tls/downstream-tls.ts';
import type { AccessFilters } from './access-filters.ts';
import { inboundManager } from './http-connection-manager.ts';
import { inboundRoutes } from '../routes/inbound-routes.ts';
import { plainHttpProtocols } from './listener-filters.ts';
import { type ListenerKind, listenerKindOf } from '../scope/outbound-bindings.ts';
import type { SetMode } from '../scope/peer-authentication-of.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { blackHole, tcpFilters } from './tcp-chain.ts';
import type { Init, TypedConfig } from '../encoding/typed-config.ts';

type FilterChain = Init<typeof FilterChainSchema>;
type Match = Init<typeof FilterChainMatchSchema>;

/** A port that is served, as its chains need it. */
export interface InboundPort {
  /** The name of the HTTP and of the TCP chains: `0.0.0.0_8080`. */
  readonly httpName: string;
  readonly tcpName: string;
  /** The port that is connected to; undefined for all that no other chain is for. */
  readonly port: number | undefined;
  readonly protocol: Protocol;
  /** `closed`: nobody may connect. */
  readonly mode: SetMode;
  /** TLS of its own, for clients outside of the mesh. */
  readonly tls: IngressTls | undefined;
  readonly cluster: string;
  readonly statPrefix: string;
  /** What spans are named after: a host, and the port of its service. */
  readonly host: string;
  readonly servicePort: number;
  /** Where Istio would have it from; '' for none. */
  readonly config: string;
}

/** What peers of the mesh offer by ALPN, for HTTP and for the rest. */
const meshHttp = ['istio-http/1.0', 'istio-http/1.1', 'istio-h2'];
const meshTcp = ['istio-peer-exchange', 'istio'];
const meshAny = ['istio', 'istio-peer-exchange', ...meshHttp];

/** The chains of one port, by its protocol and by what it asks of who calls. */
export function inboundChains(
  mesh: MeshConfig,
  node: ProxyNode,
  access: AccessFilters,
  of: InboundPort,
): FilterChain[] {
  const port: Match = of.port === undefined ? {} : { destinationPort: of.port };
  const metadata = of.config !== '' && {
    metadata: { filterMetadata: { istio: { config: of.config } } },
  };
  if (of.mode === 'closed')
    return [{ name: of.tcpName, filterChainMatch: port, filters: [blackHole], ...metadata }];
  const kinds =
    of.tls === undefined
      ? matches(listenerKindOf(of.protocol), of.mode)
      : matchesWithTls(of.protocol === 'https', of.mode);
  const sockets: Readonly<Record<Ends, () => { readonly transportSocket?: TypedConfig }>> = {
    nowhere: () => ({}),
    mesh: () => ({ transportSocket: mutualTls(mesh, node) }),
    own: () => (of.tls === undefined ? {} : { transportSocket: ownTls(of.tls) }),
  };
  return kinds.map(({ http, tls, ...match }) => ({
    name: http ? of.httpName : of.tcpName,
    filterChainMatch: { ...port, ...match },
    filters: http
      ? [inboundManager(mesh, node, access.http, of, inboundRoutes(of))]
      : [...access.tcp, ...tcpFilters(mesh, of.cluster, of.protocol)],
    ...sockets[tls](),
    ...metadata,
  }));
}

/** Which TLS ends here: none, that of the mesh, or that of the port. */
type Ends = 'nowhere' | 'mesh' | 'own';

type OpenMode = Exclude<SetMode, 'closed'>;

interface ChainKind extends Match {
  readonly http: boolean;
  readonly tls: Ends;
}

/**
 * The chains of a port with TLS of its own: plain text is on none of them. Where the mesh insists
 * on its mutual TLS, that is all there is, as in Istio.
 */
function matchesWithTls(http: boolean, mode: OpenMode): ChainKind[] {
  const own: ChainKind = { transportProtocol: 'tls', http, tls: 'own' };
  if (mode === 'disable') return [own];
  if (mode === 'strict') return matches(http ? 'http' : 'tcp', mode);
  return [{ transportProtocol: 'tls', applicationProtocols: meshAny, http, tls: 'mesh' }, own];
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
  const meshTls: ChainKind = { ...tls, applicationProtocols: meshAny, http, tls: 'mesh' };
  return http
    ? [meshTls, { ...plain, http, tls: 'nowhere' }]
    : [meshTls, foreignTls, { ...plain, http, tls: 'nowhere' }];
}
