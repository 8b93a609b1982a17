import { describe, expect, it } from 'vitest';
import { binsSince, joinedBins, parseBins, quantile } from '../../../src/proxy/histogram-bins.ts';
import { listenersIn, statsNameOf } from '../../../src/proxy/listener-list.ts';
import { serviceCounts } from '../../../src/proxy/request-counts.ts';

const histogram = (name: string, totals: string) =>
  `${name}:\n  totals=${totals}\n  intervals=9,1:9\n  summary=P0(0,0) P50(0,0)`;
/** The statistics as Envoy 1.36 and 1.40 print them. */
const mesh = [
  'cluster.outbound|80||a.b.external.upstream_rq_completed: 5',
  'cluster.outbound|80||a.b.membership_healthy: 1',
  'cluster.outbound|80||a.b.membership_total: 2',
  'cluster.outbound|80||a.b.upstream_rq_completed: 5',
  'cluster.xds-grpc.membership_healthy: 1',
  'cluster.xds-grpc.membership_total: 1',
  'http.admin.downstream_rq_completed: 99',
  'http.inbound_0.0.0.0_8080;.downstream_rq_5xx: 10',
  'http.inbound_0.0.0.0_8080;.downstream_rq_completed: 15',
  'http.inbound_0.0.0.0_9090;.downstream_rq_completed: 5',
  'http.outbound_0.0.0.0_80;.downstream_rq_5xx: 0',
  'http.outbound_0.0.0.0_80;.downstream_rq_completed: 0',
  'listener.0.0.0.0_8080.downstream_cx_active: 4',
  'listener.0.0.0.0_8080.worker_0.downstream_cx_active: 4',
  'http.admin.downstream_rq_time: No recorded values',
  histogram('http.inbound_0.0.0.0_8080;.downstream_rq_time', '0,0:5, 1,0.1:9, 20,1:1'),
  histogram('http.inbound_0.0.0.0_9090;.downstream_rq_time', '1,0.1:5'),
  'http.outbound_0.0.0.0_80;.downstream_rq_time: No recorded values',
].join('\n');

describe('what Envoy counts of its service', () => {
  it('is, in a mesh, what its inbound and outbound listeners have; of clusters their hosts', () => {
    const { inbound, outbound, clusters, clusterCount, connections } = serviceCounts(mesh);
    expect(inbound).toEqual({
      requests: 20,
      failures: 10,
      times: parseBins('0,0:5, 1,0.1:14, 20,1:1'),
    });
    expect(outbound).toEqual({ requests: 0, failures: 0, times: new Map() });
    expect([clusters, clusterCount]).toEqual([
      [{ name: 'outbound|80||a.b', healthy: 1, total: 2 }],
      1,
    ]);
    expect([...connections]).toEqual([['0.0.0.0_8080', 4]]);
  });

  it('is, elsewhere, what comes to its listeners, and what it asks of its clusters', () => {
    const { inbound, outbound } = serviceCounts(
      [
        'http.edge.downstream_rq_completed: 7',
        'cluster.a.upstream_rq_completed: 5',
        'cluster.a.upstream_rq_5xx: 1',
        'cluster.a.zone.x.y.upstream_rq_completed: 5',
        histogram('cluster.a.upstream_rq_time', '3,0.1:5'),
      ].join('\n'),
    );
    expect(inbound).toEqual({ requests: 7, failures: 0, times: undefined });
    expect(outbound).toEqual({ requests: 5, failures: 1, times: parseBins('3,0.1:5') });
  });

  it.each(['', 'no statistics', '{"stats":[]}', '  totals=1,1:1', 'constructor: 1\n__proto__: 2'])(
    'is nothing in %j',
    (body) => {
      expect(serviceCounts(body)).toMatchObject({
        inbound: undefined,
        outbound: undefined,
        clusters: undefined,
        clusterCount: 0,
      });
    },
  );

  it('is of 10,000 clusters at most, and says how many there are', () => {
    const many = Array.from(
      { length: 12_000 },
      (_, index) => `cluster.${'x'.repeat(300)}${index}.membership_total: 1`,
    ).join('\n');
    const { clusters = [], clusterCount } = serviceCounts(many);
    expect([clusters.length, clusterCount, clusters[0]?.name.length]).toEqual([
      10_000, 12_000, 200,
    ]);
  });
});

describe('a histogram', () => {
  it.each([
    ['1,1:50, 2,1:50', 0.5, 2],
    ['1,1:50, 2,1:50', 0.75, 2.5],
    ['0,0:99, 100,10:1', 0.99, 0],
    ['0,0:98, 100,10:2', 0.99, 105],
    ['10,1:1, 2,1:1', 1, 11],
    ['', 0.5, undefined],
    ['1,1:0', 0.5, undefined],
    ['nonsense, 1,1:x, 5,1:2', 0.5, 5.5],
  ])('of %j has at %d: %s', (text, share, value) => {
    expect(quantile(parseBins(text), share)).toBe(value);
  });

  it('is joined with others, and has what came since an earlier look', () => {
    const [before, now] = [
      parseBins('1,1:5'),
      joinedBins([parseBins('1,1:6'), parseBins('1,1:2, 3,1:1')]),
    ];
    expect(binsSince(before, now)).toEqual(parseBins('1,1:3, 3,1:1'));
    expect(binsSince(now, before)).toBeUndefined();
  });
});

describe('the listeners of an Envoy', () => {
  it('have their names and where they listen', () => {
    const listenerAt = (name: string, local_address: object) => ({ name, local_address });
    const statuses = [
      listenerAt('in', { socket_address: { address: '0.0.0.0', port_value: 15006 } }),
      listenerAt('six', { socket_address: { address: '::1', port_value: 80 } }),
      listenerAt('pipe', { pipe: { path: '/run/a' } }),
      listenerAt('within', { envoy_internal_address: { server_listener_name: 'x' } }),
      3,
    ];
    const all = listenersIn(JSON.stringify({ listener_statuses: statuses })) ?? [];
    expect(all.map(({ name, address }) => `${name} ${address}`)).toEqual([
      'in 0.0.0.0:15006',
      'six [::1]:80',
      'pipe /run/a',
      'within x',
      ' ',
    ]);
    expect(all.map((listener) => statsNameOf(listener)).slice(0, 2)).toEqual([
      '0.0.0.0_15006',
      '[__1]_80',
    ]);
  });

  it.each([
    ['{}', []],
    ['', undefined],
    ['[', undefined],
    ['{"listener_statuses":1}', undefined],
    ['null', undefined],
  ])('in %j are %j', (body, all) => {
    expect(listenersIn(body)).toEqual(all);
  });
});
