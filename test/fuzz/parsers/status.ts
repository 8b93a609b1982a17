import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import * as fc from 'fast-check';
import { EMPTY, lastValueFrom, of } from 'rxjs';
import { parseStats } from '../../../src/proxy/admin-client.ts';
import { appProbes } from '../../../src/pilot-agent/config/app-probes.ts';
import { metricsTargets } from '../../../src/pilot-agent/config/metrics-targets.ts';
import { activeRequests, isLive } from '../../../src/proxy/admin-questions.ts';
import { compress, negotiateFormat } from '../../../src/pilot-agent/status/scrape/negotiate.ts';
import { readiness } from '../../../src/pilot-agent/status/probe/readiness.ts';
import { routes } from '../../../src/pilot-agent/status/routes.ts';
import { statusParts } from '../../support/status-parts.ts';
import { fuzzed, textOf } from '../parser.ts';

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const route = routes({
  ...statusParts(),
  admin: { request: () => of({ ok: true, value: { status: 200, body: '' } }), open: () => EMPTY },
});

/** Answers a request as the status server does, without a client. */
async function answered({ method, url, headers }: Asked): Promise<void> {
  const request = Object.assign(new IncomingMessage(new Socket()), { method, url, headers });
  Object.defineProperty(request.socket, 'remoteAddress', { value: '127.0.0.1' });
  await lastValueFrom(route(url.replace(/\?.*/s, ''))(request, new ServerResponse(request)), {
    defaultValue: undefined,
  });
}

const many = (size: number, make: (index: number) => string) =>
  Array.from({ length: size }, (_, index) => make(index)).join('');
const asks = (changes: Partial<Asked>): Asked => ({
  method: 'GET',
  url: '/healthz/ready',
  headers: {},
  ...changes,
});
const texts = textOf(
  'localhost',
  '127.0.0.1',
  '[',
  ']',
  ':',
  '15020',
  ',',
  ';',
  'q=',
  '0.5',
  'application/json',
  '=',
);

export const status = [
  fuzzed({
    name: 'statistics of Envoy',
    inputs: textOf(
      'server.state',
      'cluster_manager.cds.update_success',
      'listener.a.http.b.downstream_rq_completed',
      'http.a.downstream_rq_active',
      ': ',
      '1',
      '0',
      '9'.repeat(30),
      '\n',
      '__proto__',
    ),
    parse: (body) => [readiness(body), activeRequests(parseStats(body))],
    growing: {
      lines: (size) => many(size, (line) => `a${line}: 1\n`),
      colons: (size) => `a${': 1'.repeat(size)}x`,
      digits: (size) => `a: ${'1'.repeat(size)}x`,
      listeners: (size) =>
        many(
          size,
          (name) =>
            `listener.l${name}.http.h.downstream_rq_completed: 1\nlistener.l${name}.downstream_cx_active: 1\n`,
        ),
      'a name of a listener': (size) =>
        `listener${'.http.a'.repeat(size)}.downstream_rq_completed: 1`,
    },
  }),
  fuzzed({
    name: 'what Envoy says of itself',
    inputs: fc.oneof(
      fc.json(),
      textOf('{', '}', '"state":"LIVE"', ',', '"command_line_options":', 'null', '['),
    ),
    parse: (body) => isLive(body, { baseId: 1, restartEpoch: 0 }),
    growing: {
      brackets: (size) => '['.repeat(size),
      targets: (size) =>
        JSON.stringify(
          Array.from({ length: size }, (_, index) => ({ port: index + 1, path: '/' })),
        ),
    },
    size: 50,
  }),
  fuzzed({
    name: 'Accept and Accept-Encoding',
    inputs: textOf(
      'application/openmetrics-text',
      'text/plain',
      '*/*',
      ';',
      ',',
      'q=',
      'version=',
      '0.0.1',
      '1',
      ' ',
      '\t',
      'gzip',
      'zstd',
    ),
    parse: (text) => [negotiateFormat(text), compress(text)?.name],
    growing: {
      ranges: (size) => 'text/plain;q=0.5,'.repeat(size),
      parameters: (size) => `a${';q=1'.repeat(size)}`,
      blanks: (size) => `gzip${' '.repeat(size)}x`,
      'blanks before a name': (size) => `${' '.repeat(size)};`,
      'equals signs': (size) => `a;${'='.repeat(size)}`,
    },
  }),
  fuzzed({
    name: 'probes of the application',
    inputs: fc.oneof(
      fc.json(),
      textOf(
        '{',
        '}',
        '"/app-health/a/livez"',
        ':',
        '"httpGet"',
        '"gRPC"',
        '"port"',
        '1',
        ',',
        '"httpHeaders"',
        '[',
        ']',
        '"name"',
        'null',
        '"__proto__"',
      ),
    ),
    parse: appProbes,
    growing: {
      probes: (size) =>
        JSON.stringify(
          Object.fromEntries(
            Array.from({ length: size }, (_, index) => [
              `/app-health/a${index}/livez`,
              { httpGet: { port: 1 } },
            ]),
          ),
        ),
      'wrong probes': (size) =>
        JSON.stringify(
          Object.fromEntries(Array.from({ length: size }, (_, index) => [`/${index}`, {}])),
        ),
      headers: (size) =>
        JSON.stringify({
          '/app-health/a/livez': {
            httpGet: {
              port: 1,
              httpHeaders: Array.from({ length: size }, () => ({ name: 'a', value: 'b' })),
            },
          },
        }),
    },
  }),
  fuzzed({
    name: 'applications to scrape',
    inputs: fc.oneof(
      fc.json(),
      textOf('[', ']', '{', '}', '"port"', ':', '80', '"path"', '"/"', ',', 'null', '"scrape"'),
    ),
    parse: (json) =>
      metricsTargets(
        { ISTIO_PROMETHEUS_ANNOTATIONS: json, PILOT_AGENT_METRICS_TARGETS: json },
        new Map(),
      ),
    growing: { brackets: (size) => '['.repeat(size) },
  }),
  fuzzed({
    name: 'requests to the status port',
    inputs: fc.record({
      method: fc.constantFrom('GET', 'POST', 'HEAD', 'PUT'),
      url: textOf(
        '/',
        '/healthz/ready',
        '/app-health/',
        '/debug/epochs',
        '/logging',
        '/quitquitquit',
        '/drain',
        '/restart',
        '/version',
        '?',
        'level=',
        'info',
        'paths=',
        '&',
        '%',
        '%00',
        '..',
      ),
      headers: fc.dictionary(
        fc.constantFrom('accept', 'host', 'origin', 'sec-fetch-site', 'x-pilot-agent'),
        texts,
      ),
    }),
    parse: answered,
    growing: {
      'a path': (size) => asks({ url: `/app-health/${'/'.repeat(size)}` }),
      'question marks': (size) => asks({ url: `/${'?'.repeat(size)}` }),
      'a query': (size) => asks({ method: 'POST', url: `/logging?${'level=info&'.repeat(size)}` }),
      'a host': (size) => asks({ url: '/debug/config', headers: { host: 'a:'.repeat(size) } }),
    },
  }),
];
