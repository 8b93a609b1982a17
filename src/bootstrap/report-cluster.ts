import type { RemoteService } from '../config/proxy-config.ts';
import type { BootstrapInputs } from './bootstrap-inputs.ts';
import type { Findings } from './findings.ts';
import type { Json } from './json.ts';
import { remoteCluster } from './remote-cluster.ts';
import { socketAddress } from './socket-address.ts';
import { tcpKeepalive } from './tcp-keepalive.ts';
import { upstreamTls } from './upstream-tls.ts';

/** The cluster of a service that Envoy reports to over gRPC. Undefined where there is a problem. Pure. */
export function reportCluster(
  name: string,
  place: string,
  service: RemoteService,
  { config, ipv6, metadata }: Pick<BootstrapInputs, 'config' | 'ipv6' | 'metadata'>,
  findings: Findings,
): Json {
  const address = socketAddress(service.address);
  if (address === undefined) {
    findings.problems.push({ place: `${place}.address`, text: `'${service.address}' is not host:port` });
    return undefined;
  }
  const { tlsSettings: settings, tcpKeepalive: keepalive } = service;
  const tls = settings && upstreamTls({ settings, place: `${place}.tlsSettings`, metadata, http2: true, name }, findings);
  const more = { upstream_connection_options: keepalive && { tcp_keepalive: tcpKeepalive(keepalive) } };
  return remoteCluster({ name, address, http2: true, tls, more }, config, ipv6);
}
