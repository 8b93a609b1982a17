import { describe, expect, it } from 'vitest';
import {
  certificateInFiles,
  credentialSecret,
  rootInFile,
  workloadCertificate,
  workloadRoot,
} from '../../../../../src/pilot-discovery/generate/tls/sds-secret.ts';
import { SdsSecretConfigSchema } from '../../../../../src/shared/proto/envoy/extensions/transport_sockets/tls/v3/common_pb.ts';
import { canonical, messageYaml } from '../../../../support/golden.ts';

const agent = `
  resource_api_version: V3
  api_config_source:
    api_type: GRPC
    transport_api_version: V3
    grpc_services: [{ envoy_grpc: { cluster_name: sds-grpc } }]
    set_node_on_first_message_only: true`;
const asLong = '\n  initial_fetch_timeout: 0s';
const second = '\n  initial_fetch_timeout: 1s';

describe('a secret that Envoy asks for', () => {
  it.each<[what: string, secret: ReturnType<typeof workloadRoot>, message: string]>([
    [
      'the certificate of the workload: it waits as long as it takes',
      workloadCertificate(),
      `name: default\nsds_config:${agent}${asLong}`,
    ],
    ['the roots of the mesh', workloadRoot(), `name: ROOTCA\nsds_config:${agent}${asLong}`],
    [
      'files of the workload: it waits as long as Envoy does by itself',
      certificateInFiles('/c.pem', '/k.pem', 'workload'),
      `name: file-cert:/c.pem~/k.pem\nsds_config:${agent}`,
    ],
    [
      'files of a rule: they hold up nothing else for long',
      certificateInFiles('/c.pem', '/k.pem', 'rule'),
      `name: file-cert:/c.pem~/k.pem\nsds_config:${agent}${second}`,
    ],
    [
      'roots of the workload in a file',
      rootInFile('/r.pem', 'workload'),
      `name: file-root:/r.pem\nsds_config:${agent}`,
    ],
    [
      'roots of a rule: those of the machine',
      rootInFile('system', 'rule'),
      `name: file-root:system\nsds_config:${agent}${second}`,
    ],
    [
      'a secret of the control plane: with the name that istiod gives it',
      credentialSecret('control-plane', 'a'),
      `name: kubernetes://a\nsds_config:\n  resource_api_version: V3\n  ads: {}${second}`,
    ],
    [
      'a secret of the control plane that has its whole name',
      credentialSecret('control-plane', 'kubernetes-gateway://b/a'),
      `name: kubernetes-gateway://b/a\nsds_config:\n  resource_api_version: V3\n  ads: {}${second}`,
    ],
    [
      'a secret of an agent that has the secrets of gateways',
      credentialSecret('agent', 'kubernetes://a'),
      `name: a\nsds_config:${agent}${second}`,
    ],
  ])('%s', (_, secret, message) => {
    expect(messageYaml(SdsSecretConfigSchema, secret)).toBe(canonical(message));
  });
});
