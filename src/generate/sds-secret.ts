import { ApiConfigSource_ApiType as ApiType, ApiVersion, type ConfigSourceSchema } from '../proto/envoy/config/core/v3/config_source_pb.ts';
import type { SdsSecretConfigSchema } from '../proto/envoy/extensions/transport_sockets/tls/v3/common_pb.ts';
import type { Init } from './typed-config.ts';

type SdsSecret = Init<typeof SdsSecretConfigSchema>;

/** The certificate of the workload: of the agent, for which Envoy waits as long as it takes. */
export const workloadCertificate = (): SdsSecret => waitedFor('default');

/** What the certificates of the mesh are checked by. */
export const workloadRoot = (): SdsSecret => waitedFor('ROOTCA');

/** A certificate chain and its key, in files that the agent reads. */
export const certificateInFiles = (chain: string, key: string): SdsSecret => ({ name: `file-cert:${chain}~${key}`, sdsConfig: ofAgent });

/**
 * Certificates to check by, in a file that the agent reads; `system` stands for those of the
 * machine.
 */
export const rootInFile = (path: string): SdsSecret => ({ name: `file-root:${path}`, sdsConfig: ofAgent });

/** A secret that the control plane has. */
export const secretOfControlPlane = (name: string): SdsSecret => ({
  name,
  sdsConfig: { configSourceSpecifier: { case: 'ads', value: {} }, resourceApiVersion: ApiVersion.V3 },
});

const waitedFor = (name: string): SdsSecret => ({ name, sdsConfig: { ...ofAgent, initialFetchTimeout: {} } });

const ofAgent: Init<typeof ConfigSourceSchema> = {
  configSourceSpecifier: {
    case: 'apiConfigSource',
    value: {
      apiType: ApiType.GRPC,
      transportApiVersion: ApiVersion.V3,
      grpcServices: [{ targetSpecifier: { case: 'envoyGrpc', value: { clusterName: 'sds-grpc' } } }],
      setNodeOnFirstMessageOnly: true,
    },
  },
  resourceApiVersion: ApiVersion.V3,
};
