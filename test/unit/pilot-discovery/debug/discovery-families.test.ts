import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { debugAnswers, proxyAnswers } from '../../../../src/pilot-discovery/debug/debug-answers.ts';
import { discoveryFamilies } from '../../../../src/pilot-discovery/debug/discovery-families.ts';
import {
  type DiscoveryView,
  unready,
} from '../../../../src/pilot-discovery/state/discovery-view.ts';
import { duplicateHosts } from '../../../../src/pilot-discovery/environment/duplicate-hosts.ts';
import type { DiscoveryEvent } from '../../../../src/pilot-discovery/state/discovery-event.ts';
import { foldView, initialView } from '../../../../src/pilot-discovery/state/fold-view.ts';
import { readNode } from '../../../../src/pilot-discovery/generate/scope/read-node.ts';
import { narrateDiscovery } from '../../../../src/pilot-discovery/state/narrate-discovery.ts';
import type { Unsent } from '../../../../src/pilot-discovery/push/unsent.ts';
import { NodeSchema } from '../../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { typeUrls } from '../../../../src/pilot-discovery/push/view.ts';
import { withoutEndpoints } from '../../../../src/pilot-discovery/state/push-status.ts';
import { viewer } from '../../../../src/pilot-discovery/generate/view-of.ts';
import { cases } from '../../../differential/cases.ts';
import { environmentOf, proxyAt } from '../../../support/generated.ts';

const node = create(NodeSchema, {
  id: 'sidecar~10.0.0.1~app-0.default~c',
  metadata: { ISTIO_VERSION: '1.26.0', CLUSTER_ID: 'Kubernetes' },
});
const built = (number: number, changedAt: number, builtAt: number): DiscoveryEvent => ({
  type: 'built',
  snapshot: {
    number,
    content: 'received',
    environment: environmentOf(''),
    changes: { class: 'config', keys: new Set(['VirtualService/default/a']) },
    changedAt,
    dueAt: builtAt - 50,
    builtAt,
  },
});
const routeSubscription = { connection: 7, typeUrl: typeUrls.route } as const;
const answered = (nonce: string, snapshot: number): DiscoveryEvent => ({
  type: 'answered',
  ...routeSubscription,
  nonce,
  snapshot,
  version: 'v',
  resources: 2,
});
const connected: Extract<DiscoveryEvent, { readonly type: 'connected' }> = {
  type: 'connected',
  connection: 7,
  node,
  variant: 'delta',
  address: '10.0.0.1:5',
};
const rejected: DiscoveryEvent = {
  type: 'rejected',
  ...routeSubscription,
  nonce: 'n2',
  reason: 'no',
  names: ['80'],
  keys: ['VirtualService/default/a'],
};

const after = (...events: readonly (readonly [DiscoveryEvent, number])[]): DiscoveryView =>
  events.reduce((view, [event, now]) => foldView(view, event, now), initialView);
const value = (
  view: DiscoveryView,
  name: string,
  suffix = '',
  labels: Readonly<Record<string, string>> = {},
) =>
  discoveryFamilies(view, '1')
    .find((family) => family.name === name)
    ?.samples.find(
      (sample) =>
        (sample.suffix ?? '') === suffix &&
        Object.entries(labels).every(([key, labelValue]) => sample.labels?.[key] === labelValue),
    )?.value;
const statusOf = (view: DiscoveryView, now: number) =>
  (
    debugAnswers['/debug/syncz']?.(view, now) as readonly {
      readonly resources: Readonly<Record<string, { readonly status: string }>>;
    }[]
  )[0]?.resources[typeUrls.route]?.status;

describe('what the control plane says of itself', () => {
  it('has proxies, answers and refusals, by the names of istiod', () => {
    const view = after(
      [connected, 0],
      [answered('n1', 1), 5],
      [{ type: 'accepted', ...routeSubscription, nonce: 'n1', snapshot: 1 }, 6],
      [answered('n2', 2), 7],
      [rejected, 8],
    );
    expect(value(view, 'pilot_xds', '', { version: '1.26.0' })).toBe(1);
    expect(value(view, 'pilot_xds_pushes', '', { type: 'rds' })).toBe(2);
    expect(value(view, 'pilot_xds_rds_reject')).toBe(1);
    expect(value(view, 'pilot_total_xds_rejects')).toBe(1);
    expect(
      value(foldView(view, { type: 'disconnected', connection: 7 }, 9), 'pilot_xds', '', {
        version: '1.26.0',
      }),
    ).toBeUndefined();
  });

  it('has at most 100 versions of proxies, none of them long', () => {
    const connectedWith = (version: string, connection: number) => {
      const metadata = { ISTIO_VERSION: version };
      return [
        { ...connected, connection, node: create(NodeSchema, { id: node.id, metadata }) },
        0,
      ] as const;
    };
    const versions = ['x'.repeat(65), ...Array.from({ length: 150 }, (_, index) => `1.${index}`)];
    const view = after(...versions.map(connectedWith));
    const family = discoveryFamilies(view, '1').find(({ name }) => name === 'pilot_xds');
    expect(family?.samples).toHaveLength(100);
    expect(value(view, 'pilot_xds', '', { version: '1.98' })).toBe(1);
    expect(value(view, 'pilot_xds', '', { version: 'other' })).toBe(1 + 51);
  });

  it('has how long changes take until a snapshot, an answer, and until they are accepted, without the first one', () => {
    const start = after([built(1, 0, 900), 900], [connected, 1_000], [answered('n1', 1), 1_000]);
    expect(value(start, 'pilot_proxy_convergence_time', '_count')).toBe(0);
    const view = [
      [built(2, 2_000, 2_150), 2_150],
      [answered('n2', 2), 2_200],
      [{ type: 'accepted', ...routeSubscription, nonce: 'n2', snapshot: 2 }, 2_300],
    ] as const;
    const foldedView = view.reduce((before, [event, now]) => foldView(before, event, now), start);
    expect(value(foldedView, 'pilot_debounce_time', '_sum')).toBeCloseTo(0.15);
    expect(value(foldedView, 'pilot_proxy_convergence_time', '_sum')).toBeCloseTo(0.2);
    expect(value(foldedView, 'pilot_change_to_acked_seconds', '_sum')).toBeCloseTo(0.3);
    expect(value(foldedView, 'pilot_push_triggers', '', { type: 'config' })).toBe(1);
  });

  it('counts the streams of proxies that do not read, and says so', () => {
    const reason = 'it has read nothing for 300 s';
    const event = { type: 'reads-nothing', connection: 7, address: '10.0.0.1:5', reason } as const;
    const view = after([connected, 0], [event, 5]);
    expect(value(view, 'pilot_xds_unread_streams')).toBe(1);
    expect(narrateDiscovery(view, event, 5, 1)).toMatchObject([
      { event: 'discovery.reads_nothing', address: '10.0.0.1:5', reason },
    ]);
  });

  it('has how large answers are, how long they wait and how long they are written', () => {
    const view = after(
      [connected, 0],
      [answered('n1', 1), 5],
      [{ type: 'written', ...routeSubscription, bytes: 100, queuedMs: 400, writingMs: 20 }, 6],
    );
    expect(value(view, 'pilot_xds_config_size_bytes', '_sum', { type: 'rds' })).toBe(100);
    expect(value(view, 'pilot_xds_config_size_bytes', '_bucket', { type: 'rds', le: '1' })).toBe(0);
    expect(value(view, 'pilot_proxy_queue_time', '_sum')).toBeCloseTo(0.4);
    expect(value(view, 'pilot_xds_send_time', '_sum')).toBeCloseTo(0.02);
  });

  it('says why a proxy is sent nothing more of a type', () => {
    const unsent = (waitsFor: Unsent | undefined, time: number) =>
      [{ type: 'unsent', connection: 7, typeUrl: typeUrls.route, waitsFor }, time] as const;
    const routes = (...events: readonly (readonly [DiscoveryEvent, number])[]) =>
      (
        debugAnswers['/debug/syncz']?.(after([connected, 0], ...events), 10) as readonly {
          readonly unsent: Readonly<Record<string, string>>;
        }[]
      )[0]?.unsent['route'];
    expect(routes()).toBe('not subscribed');
    expect(routes(unsent('clusters', 5))).toBe('waits for clusters');
    expect(routes(unsent('clusters', 5), [answered('n1', 1), 6])).toBe('unchanged');
    expect(routes([answered('n1', 1), 5], [rejected, 6], unsent('NACKed', 6))).toBe('NACKed');
    expect(routes(unsent('NACKed', 5), unsent(undefined, 6))).toBe('unchanged');
  });

  it('traces the last 100 snapshots: what changed, the steps, and who was last', () => {
    const view = after(
      [connected, 0],
      [built(2, 1_000, 1_150), 1_150],
      [answered('n', 2), 1_160],
      [{ type: 'accepted', ...routeSubscription, nonce: 'n', snapshot: 2 }, 1_190],
    );
    expect(JSON.parse(JSON.stringify(debugAnswers['/debug/trace']?.(view, 0)))).toEqual([
      {
        snapshot: 2,
        class: 'config',
        changed: 1,
        keys: ['VirtualService/default/a'],
        changedAt: '1970-01-01T00:00:01.000Z',
        windowMs: 100,
        buildMs: 50,
        answered: {
          answers: 1,
          lastAt: '1970-01-01T00:00:01.160Z',
          ms: 160,
          slowest: 'app-0.default',
        },
        accepted: {
          answers: 1,
          lastAt: '1970-01-01T00:00:01.190Z',
          ms: 190,
          slowest: 'app-0.default',
        },
        unsent: {
          cluster: { 'not subscribed': 1 },
          endpoint: { 'not subscribed': 1 },
          listener: { 'not subscribed': 1 },
          route: { unchanged: 1 },
        },
      },
    ]);
    const many = Array.from({ length: 150 }, (_, number) => [built(number, 0, 100), 100] as const);
    expect(after(...many).traces.map(({ snapshot }) => snapshot)).toEqual(
      Array.from({ length: 100 }, (_, index) => 149 - index),
    );
    const late = foldView(
      after(...many),
      { type: 'accepted', ...routeSubscription, nonce: 'n', snapshot: 60 },
      7_000,
    );
    expect(late.traces.find(({ snapshot }) => snapshot === 60)?.accepted).toEqual({
      number: 1,
      lastAt: 7_000,
      connection: 7,
    });
  });

  const entry = (name: string, endpoints: string) =>
    `{ apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: { name: ${name}, namespace: a }, spec: { hosts: [${name}.mesh], resolution: STATIC, ports: [{ number: 80, name: http, protocol: HTTP }], endpoints: ${endpoints} } }`;
  const rule = (namespace: string, exportTo: string, gateways = '[mesh]') =>
    `{ apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: { name: r, namespace: ${namespace} }, spec: { hosts: [full.mesh], exportTo: ${exportTo}, gateways: ${gateways}, http: [{ directResponse: { status: 200 } }] } }`;

  it('names services without endpoints', () => {
    const environment = environmentOf(
      [entry('full', '[{ address: 10.0.0.9 }]'), entry('empty', '[]')].join('\n---\n'),
    );
    expect(withoutEndpoints(environment)).toEqual(['empty.mesh:80']);
  });

  it('names hosts that two VirtualServices have, if one namespace sees both', () => {
    const duplicates = (...rules: readonly string[]) =>
      [...duplicateHosts(environmentOf(rules.join('\n---\n')).virtualServices)].map(
        ({ host }) => host,
      );
    expect(duplicates(rule('a', '["*"]'), rule('b', '["*"]'))).toEqual(['full.mesh']);
    expect(duplicates(rule('a', '["."]'), rule('b', '["."]'))).toEqual([]);
    expect(duplicates(rule('a', '["*"]'), rule('b', '["*"]', '[ns/gateway]'))).toEqual([]);
    expect(duplicates(rule('a', '["."]'), rule('b', '[x]'), rule('c', '[y, x]'))).toEqual([
      'full.mesh',
    ]);
    expect(duplicates(rule('a', '[x]'), rule('b', '[y]'), rule('c', '["*"]'))).toEqual([
      'full.mesh',
    ]);
    expect(duplicates(rule('a', '[x]'), rule('b', '["*"]'), rule('c', '[y]'))).toHaveLength(2);
  });

  it('prints all that a proxy may have in the form of Envoy', () => {
    const environment = environmentOf(entry('full', '[{ address: 10.0.0.9 }]'));
    const proxyWithView = {
      environment,
      node: proxyAt(),
      reported: proxyAt(),
      view: viewer(() => undefined).view({ number: 1, environment }, proxyAt()),
    };
    const dump = proxyAnswers['/debug/config_dump']?.(proxyWithView) as {
      readonly configs: readonly Readonly<Record<string, unknown>>[];
    };
    const kinds = dump.configs.map((each) => String(each['@type']).split('.').pop());
    expect(kinds).toEqual([
      'ClustersConfigDump',
      'EndpointsConfigDump',
      'ListenersConfigDump',
      'RoutesConfigDump',
    ]);
    expect(dump.configs[0]?.['dynamic_active_clusters']).toContainEqual({
      version_info: expect.any(String) as string,
      cluster: expect.objectContaining({
        name: 'outbound|80||full.mesh',
        type: 'EDS',
        connect_timeout: '10s',
      }) as unknown,
    });
    expect(proxyAnswers['/debug/edsz']?.(proxyWithView)).toMatchObject([
      { cluster_name: 'outbound|80||full.mesh' },
    ]);
    expect(proxyAnswers['/debug/sidecarz']?.(proxyWithView)).toEqual({});
  });

  it.each(cases)('prints $name', ({ yaml, id, metadata, locality }) => {
    const environment = environmentOf(yaml);
    const node = readNode({ id, metadata }, locality);
    if (typeof node === 'string') throw new Error(node);
    const text = JSON.stringify(
      proxyAnswers['/debug/config_dump']?.({
        environment,
        node,
        reported: node,
        view: viewer(() => undefined).view({ number: 1, environment }, node),
      }),
    );
    expect(text).toContain('BlackHoleCluster');
  });

  it('is not ready any more once it is to end', () => {
    const view = after(
      [built(1, 0, 1), 1],
      [connected, 2],
      [{ type: 'terminate-requested', by: 'SIGTERM' }, 3],
    );
    expect(unready(view)).toBe('it ends');
    expect(
      narrateDiscovery(view, { type: 'terminate-requested', by: 'SIGTERM' }, 0, 3),
    ).toMatchObject([{ event: 'discovery.draining', by: 'SIGTERM', proxies: 1 }]);
  });

  it('says of each proxy whether it has what it was given', () => {
    const sent = after([connected, 0], [answered('n1', 1), 0]);
    expect(statusOf(sent, 1_000)).toBe('SENT');
    expect(statusOf(sent, 30_001)).toBe('STALE');
    const accepted = foldView(
      sent,
      { type: 'accepted', ...routeSubscription, nonce: 'n1', snapshot: 1 },
      2,
    );
    expect(statusOf(accepted, 40_000)).toBe('SYNCED');
    expect(statusOf(foldView(foldView(accepted, answered('n2', 2), 3), rejected, 4), 5)).toBe(
      'REFUSED',
    );
  });

  it('tells in the log what was rejected and what it is made of', () => {
    const view = after([connected, 0], [answered('n2', 2), 1]);
    expect(narrateDiscovery(view, rejected, 0, 2)).toMatchObject([
      {
        level: 'error',
        event: 'discovery.rejected',
        nodeId: node.id,
        type: 'rds',
        names: ['80'],
        madeOf: ['VirtualService/default/a'],
        reason: 'no',
      },
    ]);
  });
});
