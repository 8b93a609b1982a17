import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Bins } from '../../../src/proxy/histogram-bins.ts';
import { serviceCounts } from '../../../src/proxy/request-counts.ts';

const count = fc.integer({ min: 0, max: 1_000_000 });
const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
/** Names as Envoy has them, with dots, bars and underscores; none is one of Envoy's own. */
const named = fc
  .array(word, { minLength: 1, maxLength: 4 })
  .chain((words) => fc.constantFrom('.', '|', '_').map((by) => words.join(by)));
const bins = fc
  .uniqueArray(
    fc.record({
      from: fc.integer({ min: 0, max: 900 }),
      width: fc.constantFrom(0, 0.1, 1, 10),
      count,
    }),
    {
      maxLength: 6,
      selector: ({ from }) => from,
    },
  )
  .map((all): Bins => new Map(all.map(({ from, ...bin }) => [from, bin])));

interface Counted {
  readonly requests: number;
  readonly failures: number;
  readonly times: Bins;
}

const counted = fc.record({ requests: count, failures: count, times: bins });
const by = <T>(values: fc.Arbitrary<T>) =>
  fc
    .uniqueArray(fc.tuple(named, values), { maxLength: 5, selector: ([name]) => name })
    .map((all) => new Map(all));
const service = fc.record({
  inbound: by(counted),
  outbound: by(counted),
  clusters: by(fc.record({ healthy: count, total: count })),
  connections: by(count),
});

/** A statistic as Envoy prints it: one line, or those of a histogram, which stay together. */
type Printed = string;

function histogram(name: string, times: Bins): Printed {
  if (times.size === 0) return `${name}: No recorded values`;
  const totals = [...times]
    .map(([from, { width, count: binCount }]) => `${from},${width}:${binCount}`)
    .join(', ');
  return `${name}:\n  totals=${totals}\n  intervals=1,1:1\n  summary=P0(1,1) P50(1,1)`;
}

const http = (begins: string, all: ReadonlyMap<string, Counted>): readonly Printed[] =>
  [...all].flatMap(([name, { requests, failures, times }]) => [
    `http.${begins}${name}.downstream_rq_completed: ${requests}`,
    `http.${begins}${name}.downstream_rq_5xx: ${failures}`,
    histogram(`http.${begins}${name}.downstream_rq_time`, times),
  ]);

const printed = service.chain((given) => {
  const groups: readonly Printed[] = [
    ...http('inbound_', given.inbound),
    ...http('outbound_', given.outbound),
    ...[...given.clusters].map(
      ([name, { healthy, total }]) =>
        `cluster.c_${name}.membership_healthy: ${healthy}\ncluster.c_${name}.membership_total: ${total}`,
    ),
    ...[...given.connections].map(
      ([name, open]) => `listener.l_${name}.downstream_cx_active: ${open}`,
    ),
    // These are Envoy's own, or a part of a total that is counted.
    'http.admin.downstream_rq_completed: 7',
    'cluster.xds-grpc.membership_total: 1',
    'cluster.c.external.upstream_rq_completed: 7',
    'cluster.c.zone.a.b.upstream_rq_completed: 7',
    'listener.l.worker_0.downstream_cx_active: 7',
  ];
  return fc
    .shuffledSubarray([...groups], { minLength: groups.length })
    .map((lines) => ({ given, body: `${lines.join('\n')}\n` }));
});

/** Returns the sum of several counts; undefined if there are none. */
function sum(all: ReadonlyMap<string, Counted>) {
  if (all.size === 0) return undefined;
  const total = (field: 'requests' | 'failures') =>
    [...all.values()].reduce((before, summand) => before + summand[field], 0);
  const times = [...all.values()].flatMap((summand) =>
    [...summand.times.entries()].map(([from, { count: binCount }]) => [from, binCount] as const),
  );
  const byRange = new Map<number, number>();
  for (const [from, binCount] of times) byRange.set(from, (byRange.get(from) ?? 0) + binCount);
  return { requests: total('requests'), failures: total('failures'), times: byRange };
}

function counts(direction: ReturnType<typeof serviceCounts>['inbound']) {
  return (
    direction && {
      ...direction,
      times: new Map(
        [...(direction.times ?? [])].map(([from, { count: binCount }]) => [from, binCount]),
      ),
    }
  );
}

describe('the statistics of Envoy', () => {
  it('are read as they were counted, in whatever order Envoy prints them', () => {
    fc.assert(
      fc.property(printed, ({ given, body }) => {
        const read = serviceCounts(body);
        // Without an HTTP listener of a mesh, requests to clusters count as outbound: see the
        // table.
        fc.pre(given.inbound.size + given.outbound.size > 0);
        expect(counts(read.inbound)).toEqual(sum(given.inbound));
        expect(counts(read.outbound)).toEqual(sum(given.outbound));
        expect(new Map((read.clusters ?? []).map(({ name, ...hosts }) => [name, hosts]))).toEqual(
          new Map([...given.clusters].map(([name, hosts]) => [`c_${name}`, hosts])),
        );
        expect(read.clusterCount).toBe(given.clusters.size);
        expect(read.connections).toEqual(
          new Map([...given.connections].map(([name, open]) => [`l_${name}`, open])),
        );
      }),
      { numRuns: 300 },
    );
  });
});
