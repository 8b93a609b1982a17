import type { MeshConfig } from '../mesh/mesh-config.ts';
import type { Protocol } from '../mesh/values.ts';
import type { FilterChainMatchSchema, FilterChainSchema } from '../proto/envoy/config/listener/v3/listener_components_pb.ts';
import { mutualTls } from './downstream-tls.ts';
import { inboundManager } from './http-connection-manager.ts';
import { inboundRoutes } from './inbound-routes.ts';
import { plainHttpProtocols } from './listener-filters.ts';
import { type ListenerKind, listenerKindOf } from './outbound-bindings.ts';
import type { SetMode } from './peer-authentication-of.ts';
import type { ProxyNode } from './proxy-node.ts';
import { tcpProxy } from './tcp-chain.ts';
import type { Init } from './typed-config.ts';

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
  readonly mode: SetMode;
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
export function inboundChains(mesh: MeshConfig, node: ProxyNode, of: InboundPort): FilterChain[] {
  return matches(listenerKindOf(of.protocol), of.mode).map(({ http, tls, ...match }) => ({
    name: http ? of.httpName : of.tcpName,
    filterChainMatch: { ...(of.port !== undefined && { destinationPort: of.port }), ...match },
    filters: [http ? inboundManager(mesh, node, of, inboundRoutes(of)) : tcpProxy(mesh, of.cluster)],
    ...(tls && { transportSocket: mutualTls(mesh, node) }),
    ...(of.config !== '' && { metadata: { filterMetadata: { istio: { config: of.config } } } }),
  }));
}

interface ChainKind extends Match {
  readonly http: boolean;
  /** Whether TLS ends here. */
  readonly tls: boolean;
}

function matches(kind: ListenerKind, mode: SetMode): ChainKind[] {
  const http = kind === 'http';
  const tls = { transportProtocol: 'tls' };
  const plain = { transportProtocol: 'raw_buffer' };
  const plainHttp = { ...plain, applicationProtocols: [...plainHttpProtocols], http: true, tls: false };
  const foreignTls = { ...tls, http: false, tls: false };
  if (kind === 'auto') {
    const meshHttpTls = { ...tls, applicationProtocols: meshHttp, http: true, tls: true };
    if (mode === 'strict') return [meshHttpTls, { ...tls, http: false, tls: true }];
    if (mode === 'disable') return [plainHttp, { ...plain, http: false, tls: false }];
    const meshTcpTls = { ...tls, applicationProtocols: meshTcp, http: false, tls: true };
    return [meshHttpTls, plainHttp, meshTcpTls, { ...plain, http: false, tls: false }, foreignTls];
  }
  if (mode === 'strict') return [{ ...tls, http, tls: true }];
  if (mode === 'disable') return [{ ...plain, http, tls: false }];
  const meshTls = { ...tls, applicationProtocols: meshAny, http, tls: true };
  return http ? [meshTls, { ...plain, http, tls: false }] : [meshTls, foreignTls, { ...plain, http, tls: false }];
}
