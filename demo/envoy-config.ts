import { join } from 'node:path';
import { sdsCluster, sdsSecretConfig } from '../src/pilot-agent/bootstrap/secret-clusters.ts';

export interface EnvoyConfigOptions {
  readonly adminPort: number;
  readonly listenPort: number;
  /**
   * The folder of `cert-chain.pem` and `key.pem`. If it is given, the listener speaks TLS. Envoy
   * reads the files once, so new files need a restart.
   */
  readonly certDir?: string;
  /**
   * The socket of the agent's SDS server, and the name of the secret. If it is given, the listener
   * gets its certificate there.
   */
  readonly sds?: {
    readonly socket: string;
    readonly name: string;
    /** The name of the secret with the roots of clients. If given, clients need a certificate. */
    readonly clientRoots?: string | undefined;
  };
  /**
   * The port of an HTTP server on 127.0.0.1. If it is given, it answers below `/slow` and
   * `/upstream`.
   */
  readonly upstreamPort?: number;
  /** A file path, such as `/dev/stdout`. */
  readonly accessLog?: string;
  readonly trafficDirection?: 'INBOUND' | 'OUTBOUND';
  /** Default: true, as in Envoy. */
  readonly reusePort?: boolean;
  /** Top-level keys of the bootstrap to add or replace. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/**
 * A static v3 bootstrap: admin, one HTTP/1.1 listener, both on 127.0.0.1, and `ok` for every path
 * that no upstream answers.
 *
 * Its JSON may be written to a `.json` or a `.yaml` file. The stats of the listener's connection
 * manager begin with `http.ingress.`.
 */
export function envoyConfig(options: EnvoyConfigOptions): Record<string, unknown> {
  const {
    adminPort,
    listenPort,
    certDir,
    sds,
    upstreamPort,
    accessLog,
    trafficDirection,
    reusePort,
    extra,
  } = options;
  const toUpstream = (prefix: string) => ({
    match: { prefix },
    route: { cluster: 'upstream', timeout: '0s' },
  });

  return {
    admin: { address: loopback(adminPort) },
    static_resources: {
      listeners: [
        {
          name: 'ingress',
          address: loopback(listenPort),
          ...(trafficDirection !== undefined && { traffic_direction: trafficDirection }),
          ...(reusePort !== undefined && { enable_reuse_port: reusePort }),
          filter_chains: [
            {
              filters: [
                {
                  name: 'envoy.filters.network.http_connection_manager',
                  typed_config: {
                    '@type': type(
                      'filters.network.http_connection_manager.v3.HttpConnectionManager',
                    ),
                    stat_prefix: 'ingress',
                    codec_type: 'HTTP1',
                    generate_request_id: false,
                    ...(accessLog !== undefined && { access_log: [fileAccessLog(accessLog)] }),
                    route_config: {
                      virtual_hosts: [
                        {
                          name: 'all',
                          domains: ['*'],
                          routes: [
                            ...(upstreamPort === undefined
                              ? []
                              : [toUpstream('/slow'), toUpstream('/upstream')]),
                            {
                              match: { prefix: '/' },
                              direct_response: { status: 200, body: { inline_string: 'ok' } },
                            },
                          ],
                        },
                      ],
                    },
                    http_filters: [
                      {
                        name: 'envoy.filters.http.router',
                        typed_config: { '@type': type('filters.http.router.v3.Router') },
                      },
                    ],
                  },
                },
              ],
              ...(certDir !== undefined && {
                transport_socket: serverTls({ tls_certificates: [filePair(certDir)] }),
              }),
              ...(sds !== undefined && {
                transport_socket: serverTls(
                  {
                    tls_certificate_sds_secret_configs: [sdsSecretConfig(sds.name)],
                    ...(sds.clientRoots !== undefined && {
                      validation_context_sds_secret_config: sdsSecretConfig(sds.clientRoots),
                    }),
                  },
                  sds.clientRoots === undefined ? 'everybody' : 'clients with a certificate',
                ),
              }),
            },
          ],
        },
      ],
      clusters: [
        ...(upstreamPort === undefined ? [] : [staticCluster('upstream', upstreamPort)]),
        ...(sds === undefined ? [] : [sdsCluster(sds.socket)]),
      ],
    },
    ...extra,
  };
}

function type(name: string): string {
  return `type.googleapis.com/envoy.extensions.${name}`;
}

function loopback(port: number): Record<string, unknown> {
  return { socket_address: { address: '127.0.0.1', port_value: port } };
}

function fileAccessLog(path: string): Record<string, unknown> {
  return {
    name: 'envoy.access_loggers.file',
    typed_config: { '@type': type('access_loggers.file.v3.FileAccessLog'), path },
  };
}

function filePair(certDir: string): Record<string, unknown> {
  return {
    certificate_chain: { filename: join(certDir, 'cert-chain.pem') },
    private_key: { filename: join(certDir, 'key.pem') },
  };
}

function serverTls(
  certificates: Readonly<Record<string, unknown>>,
  admits: 'everybody' | 'clients with a certificate' = 'everybody',
): Record<string, unknown> {
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': type('transport_sockets.tls.v3.DownstreamTlsContext'),
      common_tls_context: { ...certificates, alpn_protocols: ['http/1.1'] },
      ...(admits === 'clients with a certificate' && { require_client_certificate: true }),
    },
  };
}

function staticCluster(name: string, port: number): Record<string, unknown> {
  const endpoint = { endpoint: { address: loopback(port) } };
  return {
    name,
    connect_timeout: '1s',
    type: 'STATIC',
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [endpoint] }] },
  };
}
