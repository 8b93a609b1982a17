// Why: docs/decisions/080-a-rules-certificate-has-one-second.md
import {
  ApiConfigSource_ApiType as ApiType,
  ApiVersion,
  type ConfigSourceSchema,
} from '../../../shared/proto/envoy/config/core/v3/config_source_pb.ts';
import type { SdsSecretConfigSchema } from '../../../shared/proto/envoy/extensions/transport_sockets/tls/v3/common_pb.ts';
import {
  certificateFilesName,
  rootsFileName,
  sdsClusterName,
  workloadSecretNames,
} from '../../../shared/xds/secret-names.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import type { Init } from '../encoding/typed-config.ts';

type SdsSecret = Init<typeof SdsSecretConfigSchema>;
type Source = Init<typeof ConfigSourceSchema>;

/** Returns the certificate of the workload, from the agent. Envoy waits for it without a limit. */
export const workloadCertificate = (): SdsSecret => waitedFor(workloadSecretNames.certificate);

/** Returns the roots by which certificates of the mesh are verified. */
export const workloadRoot = (): SdsSecret => waitedFor(workloadSecretNames.roots);

/**
 * Who names a secret. Envoy waits for the secrets of its workload without a limit. A secret that a
 * rule names may never come, so Envoy waits briefly: until the secret comes, only the connections
 * that need it fail.
 */
type NamedBy = 'workload' | 'rule';

/** Returns a certificate chain and its key, in files that the agent reads. */
export const certificateInFiles = (chain: string, key: string, by: NamedBy): SdsSecret => ({
  name: certificateFilesName(chain, key),
  sdsConfig: ofAgent[by],
});

/**
 * Returns the roots by which a peer is verified, in a file that the agent reads; `system` means
 * those of the machine.
 */
export const rootInFile = (path: string, by: NamedBy): SdsSecret => ({
  name: rootsFileName(path),
  sdsConfig: ofAgent[by],
});

const kubernetes = 'kubernetes://';

/**
 * Returns the secret that a `credentialName` names: from the control plane, with the name that
 * istiod gives it; from an agent that has secrets of its own, with the bare name.
 */
export const credentialSecret = (from: ProxyNode['credentials'], name: string): SdsSecret =>
  from === 'agent'
    ? { name: name.replace(kubernetes, ''), sdsConfig: ofAgent.rule }
    : { name: name.includes('://') ? name : `${kubernetes}${name}`, sdsConfig: ofControlPlane };

const waitedFor = (name: string): SdsSecret => ({
  name,
  sdsConfig: { ...agent, initialFetchTimeout: {} },
});

const agent: Source = {
  configSourceSpecifier: {
    case: 'apiConfigSource',
    value: {
      apiType: ApiType.GRPC,
      transportApiVersion: ApiVersion.V3,
      grpcServices: [
        { targetSpecifier: { case: 'envoyGrpc', value: { clusterName: sdsClusterName } } },
      ],
      setNodeOnFirstMessageOnly: true,
    },
  },
  resourceApiVersion: ApiVersion.V3,
};

/** While Envoy waits for a secret of a cluster, it takes no other clusters. */
const brief = { initialFetchTimeout: protoDuration(1_000) };

const ofAgent: Readonly<Record<NamedBy, Source>> = {
  workload: agent,
  rule: { ...agent, ...brief },
};

const ofControlPlane: Source = {
  configSourceSpecifier: { case: 'ads', value: {} },
  resourceApiVersion: ApiVersion.V3,
  ...brief,
};
