import { describe, expect, it } from 'vitest';
import { operationMatches } from '../../../../../src/pilot-discovery/generate/listeners/access-operations.ts';
import type { OperationAttribute } from '../../../../../src/pilot-discovery/istio/security/access-policy.ts';
import { PermissionSchema } from '../../../../../src/shared/proto/envoy/config/rbac/v3/rbac_pb.ts';
import { canonical, messageYaml } from '../../../../support/golden.ts';

describe('what meets a condition on what is called', () => {
  it.each<[attribute: OperationAttribute, value: string, permission: string]>([
    [
      'host',
      'A.example.com',
      'header: { name: ":authority", string_match: { exact: A.example.com, ignore_case: true } }',
    ],
    ['host', '*', 'header: { name: ":authority", present_match: true }'],
    ['method', 'G*', 'header: { name: ":method", string_match: { prefix: G } }'],
    ['path', '/a', 'url_path: { path: { exact: /a } }'],
    ['path', '*', 'url_path: { path: { safe_regex: { regex: .+ } } }'],
    [
      'path',
      '/a/{*}/{**}',
      'uri_template: { name: uri-template, typed_config: { "@type": type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig, path_template: /a/*/** } }',
    ],
    ['destination.ip', '10.0.0.0/8', 'destination_ip: { address_prefix: 10.0.0.0, prefix_len: 8 }'],
    ['destination.port', '80', 'destination_port: 80'],
    ['connection.sni', '*.b', 'requested_server_name: { suffix: .b }'],
  ])('%s %s', (attribute, value, permission) => {
    const condition = { attribute, path: [], values: [value], notValues: [] };
    const matches = operationMatches(condition, 'http');
    expect(messageYaml(PermissionSchema, matches?.some ?? {})).toBe(
      canonical(`or_rules: { rules: [{ ${permission} }] }`),
    );
    const ofHttp = ['host', 'method', 'path'].includes(attribute);
    expect(operationMatches(condition, 'tcp') === undefined).toBe(ofHttp);
  });
});
