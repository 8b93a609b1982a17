import { isIpAddress } from '../node/is-ip-address.ts';
import { sdsSecretConfig } from './sds-secret-config.ts';
import type { BootstrapInputs } from './bootstrap-inputs.ts';
import type { Findings } from './findings.ts';
import type { Json } from './json.ts';
import { remoteCluster } from './remote-cluster.ts';
import { socketAddress } from './socket-address.ts';

/** What the control plane may have to send at once is no reason to break the circuit. */
const limits = { max_connections: 100_000, max_pending_requests: 100_000, max_requests: 100_000 };

/** The control plane, `xds-grpc`: plaintext, or mutual TLS with secrets that the agent pushes or with files. Undefined where there is a problem. Pure. */
export function xdsCluster({ config, ipv6, sans, controlPlaneTls, sds }: BootstrapInputs, { problems }: Findings): Json {
  const address = socketAddress(config.discoveryAddress);
  const secured = config.controlPlaneAuthPolicy === 'MUTUAL_TLS';
  if (address === undefined) problems.push({ place: 'discoveryAddress', text: `'${config.discoveryAddress}' is not host:port` });
  if (secured && sans.length === 0)
    problems.push({ place: 'controlPlaneAuthPolicy', text: 'MUTUAL_TLS wants a name that the control plane proves to have' });
  if (address === undefined || (secured && sans.length === 0)) return undefined;

  const { chain, key, root } = controlPlaneTls;
  const names = { match_typed_subject_alt_names: sans.map(({ type, value }) => ({ san_type: type, matcher: { exact: value } })) };
  const secrets =
    sds?.isPushed === true
      ? {
          tls_certificate_sds_secret_configs: [sdsSecretConfig('default')],
          combined_validation_context: {
            default_validation_context: names,
            validation_context_sds_secret_config: sdsSecretConfig(`file-root:${sds.root}`),
          },
        }
      : {
          tls_certificates: [{ certificate_chain: { filename: chain }, private_key: { filename: key } }],
          validation_context: { trusted_ca: { filename: root }, ...names },
        };
  const tls = {
    common_tls_context: { ...secrets, alpn_protocols: ['h2'] },
    sni: isIpAddress(address.address) ? undefined : address.address,
  };
  return remoteCluster(
    {
      name: 'xds-grpc',
      address,
      http2: true,
      tls: secured ? tls : undefined,
      requestsPerConnection: 1,
      respectTtl: true,
      more: {
        circuit_breakers: { thresholds: ['DEFAULT', 'HIGH'].map((priority) => ({ priority, ...limits })) },
        upstream_connection_options: { tcp_keepalive: { keepalive_time: 300 } },
      },
    },
    config,
    ipv6,
  );
}
