import { describe, expect, it } from 'vitest';
import { ownAssignment } from '../../../../../src/pilot-discovery/generate/endpoints/own-assignment.ts';
import { ClusterLoadAssignmentSchema } from '../../../../../src/shared/proto/envoy/config/endpoint/v3/endpoint_pb.ts';
import { environmentOf } from '../../../../support/generated.ts';
import {
  canonical,
  proxyIn,
  replacing,
  resourcesYaml,
  resourceText,
} from '../../../../support/golden.ts';

/** Replaces each endpoint by its address. */
const addressesOnly = replacing('lb_endpoints', (endpoints) =>
  [...JSON.stringify(endpoints).matchAll(/"address":"([^"]+)"/g)].map(([, address]) => address),
);

const assignmentIn = (yaml: string) =>
  resourcesYaml(
    ClusterLoadAssignmentSchema,
    [ownAssignment(environmentOf(yaml), proxyIn(''))],
    addressesOnly,
  );

const endpointsIn = (zone: string, ...addresses: readonly string[]) =>
  addresses.map((address) => `{ address: ${address}, locality: r/${zone} }`).join();
const service = (host: string, port: number, endpoints: string) =>
  resourceText(
    'ServiceEntry',
    host.replace('.', '-'),
    `{ hosts: [${host}], resolution: STATIC, ports: [{ number: ${port}, name: http }], endpoints: [${endpoints}] }`,
  );

describe('the workload of a proxy', () => {
  it('has the endpoints of its service, by zone', () => {
    expect(
      assignmentIn(
        service(
          'a.mesh',
          80,
          `${endpointsIn('z1', '10.0.0.1', '10.0.0.2')}, ${endpointsIn('z2', '10.0.0.3')}`,
        ),
      ),
    ).toBe(
      canonical(`
local_cluster:
  cluster_name: local_cluster
  endpoints:
    - { locality: { region: r, zone: z1 }, load_balancing_weight: 2, lb_endpoints: [10.0.0.1, 10.0.0.2] }
    - { locality: { region: r, zone: z2 }, load_balancing_weight: 1, lb_endpoints: [10.0.0.3] }`),
    );
  });

  it('is that of the lowest port if there are several', () => {
    const yaml = [
      service('b.mesh', 90, endpointsIn('z2', '10.0.0.1')),
      service('a.mesh', 80, endpointsIn('z1', '10.0.0.1')),
    ];
    expect(assignmentIn(yaml.join('---\n'))).toContain('zone: z1');
  });

  it('has no endpoints if no service has it', () => {
    expect(assignmentIn(service('a.mesh', 80, endpointsIn('z1', '10.0.0.9')))).toBe(
      canonical('local_cluster: { cluster_name: local_cluster }'),
    );
  });
});
