import type { GatewayServer } from '../../istio/workloads/gateway.ts';
import type { Resource } from '../../istio/documents/model.ts';
import { byAge } from '../../environment/age.ts';
import type { Environment } from '../../environment/environment.ts';
import { memoTable } from './memo.ts';
import { ownPorts } from './own-ports.ts';
import { selects } from './peer-authentication-of.ts';
import type { ProxyNode } from './proxy-node.ts';
import { isHttp, isTls } from '../../istio/fields/is-http.ts';

type Gateway = Resource<'Gateway'>;

/** A server that a gateway proxy serves. */
export interface MergedServer {
  readonly gateway: Gateway;
  readonly server: GatewayServer;
  /** `NAMESPACE/NAME` of the Gateway, as VirtualServices name it. */
  readonly gatewayName: string;
  /**
   * The port of the listener. If a service maps the server's port to another port of the gateway,
   * it is that other port.
   */
  readonly port: number;
  /** The name of its HTTP routes; '' if it has none. */
  readonly routeName: string;
}

/** One listener of a gateway proxy. */
export interface MergedListener {
  readonly bind: string;
  readonly port: number;
  /** `http` and `tls` may have several servers, `tcp` has one. */
  readonly kind: 'http' | 'tls' | 'tcp';
  readonly servers: readonly MergedServer[];
}

/** The listeners and routes of all Gateways that select a proxy. */
export interface MergedGateway {
  readonly listeners: readonly MergedListener[];
  /** By name of the routes. */
  readonly routes: ReadonlyMap<string, readonly MergedServer[]>;
}

const none: MergedGateway = { listeners: [], routes: new Map() };
const merged = memoTable<MergedGateway>();

/**
 * Merges the Gateways that select a proxy. Returns the same object as long as these Gateways are
 * the same.
 */
export function mergedGatewayOf(environment: Environment, node: ProxyNode): MergedGateway {
  if (node.role !== 'router') return none;
  const selected = gatewaysOf(environment, node);
  if (selected.length === 0) return none;
  const moved = movedPorts(environment, node);
  return merged(selected, JSON.stringify([...moved]), () => mergedOnce(selected, moved));
}

/** Returns the Gateways that select a proxy by its labels, oldest first, from all namespaces. */
function gatewaysOf({ gateways }: Environment, { labels }: ProxyNode): readonly Gateway[] {
  return [...gateways.values()]
    .flat()
    .filter(({ spec }) => spec.selector === undefined || selects(spec.selector, labels))
    .sort(byAge);
}

/** Maps the ports of the proxy's services to the ports of their endpoints. */
function movedPorts(environment: Environment, node: ProxyNode): ReadonlyMap<number, number> {
  return new Map(
    ownPorts(environment, node).map(({ port, endpoint }) => [port.number, endpoint.port]),
  );
}

const isTerminatedHttp = ({ port, tls }: GatewayServer): boolean =>
  port.protocol === 'https' && tls.mode !== 'passthrough' && tls.mode !== 'auto-passthrough';

const kindOf = ({ port: { protocol } }: GatewayServer): MergedListener['kind'] =>
  isHttp(protocol) ? 'http' : isTls(protocol) ? 'tls' : 'tcp';

function routeNameOf({ name, namespace }: Gateway, server: GatewayServer, port: number): string {
  const bind = server.bind === '' ? '' : `.${server.bind}`;
  if (isHttp(server.port.protocol)) return `http.${port}${bind}`;
  if (isTerminatedHttp(server))
    return `https.${server.port.number}.${server.port.name}.${name}.${namespace}${bind}`;
  return '';
}

/**
 * Merges servers into one listener for each address and port. Leaves out a server whose protocol
 * differs from that of an older one, and a TLS server with a name that an older one has.
 */
function mergedOnce(
  gateways: readonly Gateway[],
  moved: ReadonlyMap<number, number>,
): MergedGateway {
  const listeners = new Map<string, MergedListener>();
  const names = new Set<string>();
  for (const gateway of gateways) {
    for (const server of gateway.spec.servers) {
      const port = moved.get(server.port.number) ?? server.port.number;
      const listenerKey = `${server.bind}_${port}`;
      const kind = kindOf(server);
      const before = listeners.get(listenerKey);
      if (before !== undefined && (before.kind !== kind || kind === 'tcp')) continue;
      const tlsNames =
        kind === 'tls' ? serverNames(server).map((name) => `${listenerKey} ${name}`) : [];
      if (tlsNames.some((name) => names.has(name))) continue;
      for (const name of tlsNames) names.add(name);
      const mergedServer: MergedServer = {
        gateway,
        server,
        gatewayName: `${gateway.namespace}/${gateway.name}`,
        port,
        routeName: routeNameOf(gateway, server, port),
      };
      listeners.set(listenerKey, {
        bind: server.bind,
        port,
        kind,
        servers: [...(before?.servers ?? []), mergedServer],
      });
    }
  }
  const routes = new Map<string, readonly MergedServer[]>();
  for (const { servers } of listeners.values())
    for (const mergedServer of servers)
      if (mergedServer.routeName !== '')
        routes.set(mergedServer.routeName, [
          ...(routes.get(mergedServer.routeName) ?? []),
          mergedServer,
        ]);
  return { listeners: [...listeners.values()], routes };
}

/** Returns the names by which TLS selects a server; `*` is any. */
export const serverNames = ({ hosts }: GatewayServer): readonly string[] =>
  [...new Set(hosts.map(({ host }) => host))].sort();
