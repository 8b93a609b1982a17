import { isIpAddress, parseHostPort, portNumber } from '../../shared/text/host-port.ts';
import type { ProxyConfig, RemoteService } from '../config/proxy-config.ts';
import type { BootstrapInputs } from './bootstrap-inputs.ts';
import { type Findings, type Json, protoDuration, sparing, typedConfig } from './proto-json.ts';
import { rootsFileName, workloadSecretNames } from '../../shared/xds/secret-names.ts';
import { sdsSecretConfig, socketCluster } from './secret-clusters.ts';
import { upstreamTls } from './upstream-tls.ts';

/** Envoy's `socket_address`. */
export interface SocketAddress {
  readonly address: string;
  readonly port_value: number;
}

/**
 * Parses `host:port`, with an IPv6 host in brackets; undefined if a part is missing. (The Go agent
 * accepts a missing port.) Pure.
 */
export function socketAddress(text: string): SocketAddress | undefined {
  const { host = '', isBracketed = false, port: digits } = parseHostPort(text) ?? {};
  const port = portNumber(digits);
  return host === '' || (host.includes(':') && !isBracketed) || port === undefined
    ? undefined
    : { address: host, port_value: port };
}

export interface RemoteCluster {
  readonly name: string;
  readonly address: SocketAddress;
  readonly http2: boolean;
  /** An `UpstreamTlsContext`; undefined for plaintext. */
  readonly tls: Readonly<Record<string, Json>> | undefined;
  /** More fields of the cluster. */
  readonly more?: Readonly<Record<string, Json>>;
  /** The maximum number of requests on one connection. */
  readonly requestsPerConnection?: number;
  /** Looks the name up again when its DNS record expires, instead of every `dnsRefreshRate`. */
  readonly respectTtl?: boolean;
}

/** In ms. Envoy refuses to look names up every millisecond. */
const fastestRefresh = 2;
/**
 * Envoy retries a failed lookup after 1 to 5 s. With `dnsRefreshRate` alone, a proxy that starts
 * before its DNS waits for minutes.
 */
const afterFailure = { base_interval: '1s', max_interval: '5s' };

/**
 * Returns a cluster with one remote endpoint: resolved by DNS, or static if it is an IP address.
 * Pure.
 */
export function remoteCluster(
  { name, address, http2, tls, more, requestsPerConnection, respectTtl = false }: RemoteCluster,
  { connectTimeout, dnsRefreshRate }: Pick<ProxyConfig, 'connectTimeout' | 'dnsRefreshRate'>,
  ipv6: boolean,
): Json {
  const options = {
    common_http_protocol_options:
      requestsPerConnection === undefined
        ? undefined
        : { max_requests_per_connection: requestsPerConnection },
    explicit_http_config: { http2_protocol_options: {} },
  };
  return {
    name,
    connect_timeout: protoDuration(connectTimeout),
    ...(isIpAddress(address.address)
      ? { type: 'STATIC' }
      : {
          cluster_type: {
            name: 'envoy.cluster.dns',
            typed_config: typedConfig('extensions.clusters.dns.v3.DnsCluster', {
              dns_lookup_family: ipv6 ? 'AUTO' : 'V4_ONLY',
              dns_refresh_rate:
                dnsRefreshRate > 0
                  ? protoDuration(Math.max(dnsRefreshRate, fastestRefresh))
                  : undefined,
              dns_failure_refresh_rate: afterFailure,
              respect_dns_ttl: respectTtl ? true : undefined,
            }),
          },
        }),
    lb_policy: 'ROUND_ROBIN',
    load_assignment: {
      cluster_name: name,
      endpoints: [
        { lb_endpoints: [{ endpoint: { address: { socket_address: { ...address } } } }] },
      ],
    },
    typed_extension_protocol_options: http2
      ? {
          'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': typedConfig(
            'extensions.upstreams.http.v3.HttpProtocolOptions',
            options,
          ),
        }
      : undefined,
    transport_socket:
      tls === undefined
        ? undefined
        : {
            name: 'envoy.transport_sockets.tls',
            typed_config: typedConfig(
              'extensions.transport_sockets.tls.v3.UpstreamTlsContext',
              tls,
            ),
          },
    ...more,
  };
}

/** Returns a cluster with one port on this machine as its endpoint. Pure. */
export function localCluster(name: string, address: string, port: number): Json {
  return {
    name,
    type: 'STATIC',
    connect_timeout: '0.250s',
    lb_policy: 'ROUND_ROBIN',
    load_assignment: {
      cluster_name: name,
      endpoints: [
        {
          lb_endpoints: [
            { endpoint: { address: { socket_address: { address, port_value: port } } } },
          ],
        },
      ],
    },
  };
}

/** The largest values that Linux accepts. With a larger one it refuses each connection. */
const most = { probes: 127, seconds: 32_767 };

/**
 * Envoy's `tcp_keepalive`, in seconds. A value of 0 is left out, and the system's default applies.
 * Pure.
 */
export function tcpKeepalive({
  probes,
  time,
  interval,
}: NonNullable<RemoteService['tcpKeepalive']>): Readonly<Record<string, number>> {
  const seconds = (ms: number) => Math.min(Math.ceil(ms / 1000), most.seconds);
  const fields = {
    keepalive_probes: Math.min(probes, most.probes),
    keepalive_time: seconds(time),
    keepalive_interval: seconds(interval),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value > 0));
}

type ReportInputs = Pick<BootstrapInputs, 'config' | 'ipv6' | 'metadata'>;

/**
 * Returns the cluster of a service that Envoy reports to over gRPC. A wrong service is only a
 * warning: its cluster has no endpoint, because listeners of the control plane may name it. Pure.
 */
export function reportCluster(
  name: string,
  place: string,
  service: RemoteService,
  inputs: ReportInputs,
  findings: Findings,
): Json {
  const cluster = sparing(findings, 'nothing is reported to it', (clusterFindings) =>
    reachedCluster(name, place, service, inputs, clusterFindings),
  );
  if (cluster !== undefined) return cluster;
  const connect_timeout = protoDuration(inputs.config.connectTimeout);
  return {
    name,
    type: 'STATIC',
    connect_timeout,
    load_assignment: { cluster_name: name, endpoints: [] },
  };
}

function reachedCluster(
  name: string,
  place: string,
  service: RemoteService,
  { config, ipv6, metadata }: ReportInputs,
  findings: Findings,
): Json {
  const address = socketAddress(service.address);
  if (address === undefined) {
    findings.problems.push({
      place: `${place}.address`,
      text: `'${service.address}' is not host:port`,
    });
    return undefined;
  }
  const { tlsSettings: settings, tcpKeepalive: keepalive } = service;
  const tls =
    settings &&
    upstreamTls({ settings, place: `${place}.tlsSettings`, metadata, http2: true, name }, findings);
  const more = {
    upstream_connection_options: keepalive && { tcp_keepalive: tcpKeepalive(keepalive) },
  };
  return remoteCluster({ name, address, http2: true, tls, more }, config, ipv6);
}

/** So high that a large push of the control plane does not break the circuit. */
const limits = { max_connections: 100_000, max_pending_requests: 100_000, max_requests: 100_000 };

/**
 * Returns the cluster of the control plane, `xds-grpc`. It leads to the xDS proxy, or directly to
 * the control plane: in plaintext, or over mutual TLS with pushed secrets or with files. Undefined
 * if there is a problem. Pure.
 */
export function xdsCluster(inputs: BootstrapInputs, { problems }: Findings): Json {
  const { config, ipv6, sans, xdsSocket } = inputs;
  const address = socketAddress(config.discoveryAddress);
  const secured = config.controlPlaneAuthPolicy === 'MUTUAL_TLS';
  if (address === undefined)
    problems.push({
      place: 'discoveryAddress',
      text: `'${config.discoveryAddress}' is not host:port`,
    });
  if (secured && sans.length === 0)
    problems.push({
      place: 'controlPlaneAuthPolicy',
      text: 'MUTUAL_TLS needs a name that the certificate of the control plane has',
    });
  if (address === undefined || (secured && sans.length === 0)) return undefined;
  if (xdsSocket !== undefined) return socketCluster('xds-grpc', xdsSocket);

  return remoteCluster(
    {
      name: 'xds-grpc',
      address,
      http2: true,
      tls: secured ? controlPlaneContext(address.address, inputs) : undefined,
      requestsPerConnection: 1,
      respectTtl: true,
      more: {
        circuit_breakers: {
          thresholds: ['DEFAULT', 'HIGH'].map((priority) => ({ priority, ...limits })),
        },
        upstream_connection_options: { tcp_keepalive: { keepalive_time: 300 } },
      },
    },
    config,
    ipv6,
  );
}

/** Returns the TLS of the connection to the control plane: the proxy's pair, and the names. */
function controlPlaneContext(
  host: string,
  { sans, controlPlaneTls, sds }: BootstrapInputs,
): Readonly<Record<string, Json>> {
  const { chain, key, root } = controlPlaneTls;
  const names = {
    match_typed_subject_alt_names: sans.map(({ type, value }) => ({
      san_type: type,
      matcher: { exact: value },
    })),
  };
  const secrets =
    sds?.delivery === 'pushed'
      ? {
          tls_certificate_sds_secret_configs: [sdsSecretConfig(workloadSecretNames.certificate)],
          combined_validation_context: {
            default_validation_context: names,
            validation_context_sds_secret_config: sdsSecretConfig(rootsFileName(sds.root)),
          },
        }
      : {
          tls_certificates: [
            { certificate_chain: { filename: chain }, private_key: { filename: key } },
          ],
          validation_context: { trusted_ca: { filename: root }, ...names },
        };
  return {
    common_tls_context: { ...secrets, alpn_protocols: ['h2'] },
    sni: isIpAddress(host) ? undefined : host,
  };
}
