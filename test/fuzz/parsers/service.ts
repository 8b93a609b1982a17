import * as fc from 'fast-check';
import { binsSince, joinedBins, parseBins, quantile } from '../../../src/proxy/histogram-bins.ts';
import { listenersIn, statsNameOf } from '../../../src/proxy/listener-list.ts';
import { serviceCounts } from '../../../src/proxy/request-counts.ts';
import { fuzzed, textOf } from '../parser.ts';

const many = (size: number, make: (index: number) => string) =>
  Array.from({ length: size }, (_, index) => make(index)).join('');

function read(text: string): unknown {
  const { inbound, outbound } = serviceCounts(text);
  return [inbound, outbound].map(
    (direction) => direction?.times && quantile(direction.times, 0.99),
  );
}

function readTwice(text: string): unknown {
  const bins = parseBins(text);
  return [binsSince(bins, joinedBins([bins, bins])), quantile(bins, 0.5)];
}

export const service = [
  fuzzed({
    name: 'service of Envoy',
    inputs: textOf(
      'cluster.',
      'http.',
      'inbound_',
      'outbound_',
      'listener.',
      'a',
      '.zone.',
      '.external.',
      '.worker_1.',
      'membership_healthy',
      'membership_total',
      '.downstream_rq_completed',
      '.downstream_rq_5xx',
      '.downstream_rq_time',
      '.upstream_rq_time',
      '.downstream_cx_active',
      ': ',
      ':',
      '1',
      '9'.repeat(30),
      'No recorded values',
      '\n',
      '  totals=',
      '0,0:5',
      ', ',
      '1e400,0.1:3',
      '__proto__',
    ),
    parse: read,
    growing: {
      clusters: (size) =>
        many(
          size,
          (name) =>
            `cluster.c${name}.membership_healthy: 1\ncluster.c${name}.membership_total: 1\n`,
        ),
      listeners: (size) =>
        many(size, (port) => `listener.0.0.0.0_${port}.downstream_cx_active: 1\n`),
      'HTTP listeners': (size) =>
        many(size, (name) => `http.inbound_${name}.downstream_rq_completed: 1\n`),
      histograms: (size) =>
        many(size, (name) => `http.h${name}.downstream_rq_time:\n  totals=1,0.1:5, 2,0.1:3\n`),
      'ranges of a histogram': (size) =>
        `http.h.downstream_rq_time:\n  totals=${many(size, (from) => `${from},1:1, `)}`,
      'histograms of one name': (size) =>
        many(size, () => 'http.h.downstream_rq_time:\n  totals=1,0.1:5\n'),
      'zones in a name': (size) => `cluster.a${'.zone.b'.repeat(size)}: 1`,
      'zones in a name without an end': (size) => `cluster.a${'.zone.b'.repeat(size)}.`,
      'workers in a name': (size) =>
        `listener.a${'.worker_1.'.repeat(size)}.downstream_cx_active: 1`,
      'a name of a cluster': (size) =>
        `cluster.${'.membership_total'.repeat(size)}.membership_total: 1`,
      colons: (size) => `cluster.a${': 1'.repeat(size)}x`,
      digits: (size) => `cluster.a: ${'1'.repeat(size)}x`,
      blanks: (size) => `${' '.repeat(size)}total`,
    },
  }),
  fuzzed({
    name: 'ranges of a histogram',
    inputs: textOf(
      '0,0:5',
      '1,0.1:9',
      '1e400',
      '-',
      '+',
      'e',
      '.',
      ',',
      ':',
      ', ',
      '1',
      '9'.repeat(30),
    ),
    parse: readTwice,
    growing: {
      ranges: (size) => many(size, (from) => `${from},1:1, `),
      'ranges backwards': (size) => many(size, (from) => `${size - from},1:1, `),
      digits: (size) => `${'1'.repeat(size)},1:x`,
      signs: (size) => `${'+-e.'.repeat(size)},`,
    },
  }),
  fuzzed({
    name: 'listeners of Envoy',
    inputs: fc.oneof(
      fc.json(),
      textOf(
        '{',
        '}',
        '"listener_statuses":',
        '[',
        ']',
        '"name":',
        '"local_address":',
        '"socket_address":',
        '"address":',
        '"port_value":',
        '"pipe":',
        '"path":',
        'null',
        '1',
        '"a"',
        ',',
      ),
    ),
    parse: (text) => listenersIn(text)?.map(statsNameOf),
    growing: {
      listeners: (size) =>
        `{"listener_statuses":[${many(size, (name) => `{"name":"l${name}"},`)}{}]}`,
      blanks: (size) => ' '.repeat(size),
      'a name': (size) => `{"listener_statuses":[{"name":"${':'.repeat(size)}"}]}`,
    },
  }),
];
