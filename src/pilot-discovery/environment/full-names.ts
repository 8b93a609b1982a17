import type {
  ConnectionMatch,
  HttpMatch,
  HttpRoute,
  TcpRoute,
} from '../istio/traffic/virtual-service.ts';
import type { Resource } from '../istio/documents/model.ts';

/**
 * Returns the full name of a host: `reviews.NAMESPACE.svc.DOMAIN` for `reviews`. A name with a dot
 * is full.
 */
function fullHost(host: string, namespace: string, domain: string): string {
  return host === '' || host === '*' || /[.:]/.test(host)
    ? host
    : `${host}.${namespace}.svc.${domain}`;
}

/**
 * Returns `NAMESPACE/NAME` of a gateway, which may be written as `NAME`, `./NAME` or like a host.
 */
function fullGateway(gateway: string, namespace: string): string {
  if (gateway === 'mesh') return gateway;
  const [first = '', name] = gateway.split('/');
  if (name !== undefined) return first === '.' ? `${namespace}/${name}` : gateway;
  const [short = '', gatewayNamespace = namespace] = gateway.split('.');
  return `${gatewayNamespace}/${short}`;
}

/** Returns a rule with the full name of its host; the same object if it has that already. */
export function withFullHost(
  rule: Resource<'DestinationRule'>,
  domain: string,
): Resource<'DestinationRule'> {
  const host = fullHost(rule.spec.host, rule.namespace, domain);
  return host === rule.spec.host ? rule : { ...rule, spec: { ...rule.spec, host } };
}

/**
 * Returns a resource with full names of hosts and gateways; the same object if it has them already.
 */
export function withFullNames(
  resource: Resource<'VirtualService'>,
  domain: string,
): Resource<'VirtualService'> {
  const { namespace, spec } = resource;
  const ofHost = (host: string) => fullHost(host, namespace, domain);
  const ofGateway = (gateway: string) => fullGateway(gateway, namespace);
  const ofDestination = <T extends { readonly destination: { readonly host: string } }>(to: T): T =>
    changed(to, {
      destination: changed(to.destination, { host: ofHost(to.destination.host) }),
    } as Partial<T>);
  const ofMatch = <T extends HttpMatch | ConnectionMatch>(match: T): T =>
    changed(match, { gateways: each(match.gateways, ofGateway) } as Partial<T>);
  const ofRoute = (route: HttpRoute) =>
    changed(route, {
      match: each(route.match, ofMatch),
      route: each(route.route, ofDestination),
      mirrors: each(route.mirrors, ofDestination),
    });
  const ofConnections = <T extends TcpRoute>(route: T): T =>
    changed(route, {
      match: each(route.match, ofMatch),
      route: each(route.route, ofDestination),
    } as Partial<T>);
  const full = changed(spec, {
    hosts: each(spec.hosts, ofHost),
    gateways: each(spec.gateways, ofGateway),
    http: each(spec.http, ofRoute),
    tls: each(spec.tls, ofConnections),
    tcp: each(spec.tcp, ofConnections),
  });
  return full === spec ? resource : { ...resource, spec: full };
}

/** Applies a function to each entry; returns the same list if no entry changes. */
function each<T>(list: readonly T[], become: (entry: T) => T): readonly T[] {
  const after = list.map((entry) => become(entry));
  return after.every((entry, index) => entry === list[index]) ? list : after;
}

/** Replaces fields of an object; returns the same object if no field changes. */
function changed<T extends object>(before: T, fields: Partial<T>): T {
  const isSame = (Object.keys(fields) as (keyof T)[]).every(
    (name) => fields[name] === before[name],
  );
  return isSame ? before : { ...before, ...fields };
}
