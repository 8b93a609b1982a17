import { clustersOf, endpointsOf } from '../support/generated.ts';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { socketAddress } from '../../src/pilot-discovery/generate/scope/bind-address.ts';
import { listenersOf } from '../../src/pilot-discovery/generate/listeners/listeners.ts';
import { routesOf } from '../../src/pilot-discovery/generate/routes/routes.ts';
import { typedConfig } from '../../src/pilot-discovery/generate/encoding/typed-config.ts';
import {
  Cluster_DiscoveryType as DiscoveryType,
  ClusterSchema,
} from '../../src/shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import { ClusterLoadAssignmentSchema } from '../../src/shared/proto/envoy/config/endpoint/v3/endpoint_pb.ts';
import { ListenerSchema } from '../../src/shared/proto/envoy/config/listener/v3/listener_pb.ts';
import { RouteConfigurationSchema } from '../../src/shared/proto/envoy/config/route/v3/route_pb.ts';
import { HttpConnectionManagerSchema } from '../../src/shared/proto/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts';
import { RouterSchema } from '../../src/shared/proto/envoy/extensions/filters/http/router/v3/router_pb.ts';
import { realEnvoy } from '../support/e2e/bad-input-program.ts';
import { cases as resources, resourceOf } from '../verdicts/cases.ts';
import { ownVerdict } from '../verdicts/own-verdict.ts';
import { type Case, cases, files, gateways } from './cases.ts';
import { proxyOf } from './compare.ts';
import { kubeCases } from './kube-cases.ts';
import { shapes } from './shape-cases.ts';
import { telemetryCases } from './telemetry-cases.ts';

/** Returns the bytes of a message as a field of another one. */
function field(number: number, ...parts: readonly (Uint8Array | string)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)),
  );
  const head = [(number << 3) | 2];
  let left = body.length;
  for (; left > 127; left >>>= 7) head.push((left & 127) | 128);
  return Buffer.concat([Buffer.from([...head, left]), body]);
}

const named = (name: string) =>
  toBinary(
    ClusterSchema,
    create(ClusterSchema, {
      name,
      clusterDiscoveryType: { case: 'type', value: DiscoveryType.STATIC },
    }),
  );

/** Returns a bootstrap with all resources of a proxy, so that Envoy checks each of them. */
function bootstrapOf(testCase: Case, mode: string): Buffer {
  const { environment, node } = proxyOf(testCase, mode);
  const assignments = endpointsOf(environment, node).map(({ name, body }) =>
    create(ClusterSchema, {
      name: `endpoints of ${name}`,
      clusterDiscoveryType: { case: 'type', value: DiscoveryType.STATIC },
      loadAssignment: fromBinary(ClusterLoadAssignmentSchema, body),
    }),
  );
  const routed = routesOf(environment, node).map(({ name, body }, index) => {
    const manager = typedConfig('manager', HttpConnectionManagerSchema, {
      statPrefix: name,
      routeSpecifier: { case: 'routeConfig', value: fromBinary(RouteConfigurationSchema, body) },
      httpFilters: [typedConfig('router', RouterSchema)],
    });
    return create(ListenerSchema, {
      name: `routes of ${name}`,
      address: socketAddress('127.0.0.9', 20_000 + index),
      filterChains: [{ filters: [manager] }],
    });
  });
  const listeners = [
    ...listenersOf(environment, node).map(({ body }) => body),
    ...routed.map((listener) => toBinary(ListenerSchema, listener)),
  ];
  const clusters = [
    ...clustersOf(environment, node).map(({ body }) => body),
    ...assignments.map((cluster) => toBinary(ClusterSchema, cluster)),
    named('xds-grpc'),
    named('sds-grpc'),
  ];
  // GRPC, V3, over the cluster xds-grpc
  const aggregated = Buffer.concat([
    Buffer.from([0x08, 2, 0x40, 2]),
    field(4, field(1, field(1, 'xds-grpc'))),
  ]);
  return Buffer.concat([
    field(1, field(1, testCase.id), field(2, 'test')),
    field(2, ...listeners.map((body) => field(1, body)), ...clusters.map((body) => field(2, body))),
    field(3, field(3, aggregated)),
  ]);
}

const ownService = {
  apiVersion: 'networking.istio.io/v1',
  kind: 'ServiceEntry',
  metadata: { name: 'own', namespace: 'default' },
  spec: {
    hosts: ['own.mesh'],
    location: 'MESH_INTERNAL',
    resolution: 'STATIC',
    ports: [
      { number: 80, name: 'http' },
      { number: 81, name: 'tcp' },
    ],
    endpoints: [{ address: '127.0.0.10', labels: { app: 'app' } }],
  },
};

/**
 * All policies of the verdict cases that pilot-discovery accepts, without CUSTOM, which would close
 * the workload.
 */
const policies = resources
  .filter(
    ({ kind, spec }) => kind === 'AuthorizationPolicy' && !JSON.stringify(spec).includes('CUSTOM'),
  )
  .filter((policy) => ownVerdict(policy).refused === '')
  .map((policy, index) => ({
    ...resourceOf(policy),
    metadata: { name: `p${index}`, namespace: 'default' },
    spec: { ...(policy.spec as object), selector: undefined },
  }));
const policyCases = cases.slice(0, 1).map((testCase): Case => ({
  ...testCase,
  name: `${policies.length} policies`,
  yaml: [ownService, ...policies].map((each) => JSON.stringify(each)).join('\n---\n'),
}));

/**
 * Resolves to what an Envoy logs that refuses its configuration; '' if it accepts it. Its stdout is
 * one that access logs can open.
 */
async function refusalOf(envoy: string, args: readonly string[]): Promise<string> {
  const child = spawn(envoy, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const [stderr] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return child.exitCode === 0 ? '' : stderr;
}

describe('what a proxy is told of the shapes that real folders have', () => {
  let folder: string;
  let envoy: string;
  beforeAll(() => {
    envoy = realEnvoy();
    folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-envoy-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.concurrent.each(
    [
      ...files,
      ...gateways,
      ...policyCases,
      ...telemetryCases.flatMap(({ name, proxies }) =>
        proxies.map((proxy) => ({ ...proxy, name: `${name}, ${proxy.name}` })),
      ),
      ...kubeCases.flatMap(({ name, yaml, proxies }) =>
        proxies.map((proxy) => ({ ...proxy, yaml, name: `${name}, ${proxy.name}` })),
      ),
      ...shapes.flatMap(({ name, cases }) =>
        cases.map((testCase) => ({ ...testCase, name: `${name}, ${testCase.name}` })),
      ),
    ].flatMap((testCase) => ['REDIRECT', 'NONE'].map((mode) => ({ ...testCase, mode }))),
  )('is taken by a real Envoy: $name, $mode', async ({ mode, ...testCase }) => {
    const path = join(folder, `${testCase.name} ${mode}.pb`.replaceAll(/[^\w.]/g, '_'));
    writeFileSync(path, bootstrapOf(testCase, mode));
    const args = ['--mode', 'validate', '--config-path', path, '--log-level', 'warning'];
    expect(await refusalOf(envoy, args)).toBe('');
  });
});
