import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import * as zlib from 'node:zlib';
import { of, type Subscription } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { openAnswer } from '../../../../../src/proxy/admin-client.ts';
import type { StatusEvent } from '../../../../../src/pilot-agent/status/status-event.ts';
import { routes } from '../../../../../src/pilot-agent/status/routes.ts';
import { statusServer } from '../../../../../src/shared/http/status-server.ts';
import { freePorts } from '../../../../support/free-ports.ts';
import { statusParts } from '../../../../support/status-parts.ts';
import { strictExposition } from '../../../../support/strict-exposition.ts';

const { gunzipSync, gzipSync } = zlib;
/** The compression by zstd, which Node has since 22.15. */
const { zstdCompressSync } = zlib as { readonly zstdCompressSync?: (text: string) => Buffer };

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const says =
  (
    body: string | Buffer,
    headers: Readonly<Record<string, string>> = { 'content-type': 'text/plain; version=0.0.4' },
  ): Answer =>
  (_, response) =>
    void response.writeHead(200, headers).end(body);
const openmetrics = {
  'content-type': 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};
const envoyText =
  '# TYPE envoy_requests counter\nenvoy_requests{code="200"} 5\n# TYPE shared gauge\nshared 1\n';
const refuses: Answer = (request) => void request.socket.destroy();
const rows = (count: number, more = '') =>
  Array.from({ length: count }, (_, row) => `app_rows{row="${row}",more="${more}"} ${row}\n`).join(
    '',
  );

const names = (count: number) => Array.from({ length: count }, (_, row) => `app_${row}`);
const families = (count: number) =>
  names(count)
    .map((name) => `${name} 1\n`)
    .join('');
const longNames = Array.from({ length: 20 }, (_, row) => 'a'.repeat(60_000 + row));

describe('/stats/prometheus', () => {
  const servers: Server[] = [];
  const subscriptions: Subscription[] = [];
  afterEach(() => {
    for (const subscription of subscriptions.splice(0)) subscription.unsubscribe();
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  async function stub(answer: Answer): Promise<number> {
    const server = createServer(answer).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  const events: StatusEvent[] = [];
  async function agentOver(envoy: Answer, ...applications: readonly Answer[]): Promise<number> {
    const [port = 0] = await freePorts(1);
    const admin = await stub(envoy);
    const targets = await Promise.all(
      applications.map(async (answer) => ({ port: await stub(answer), path: '/metrics' })),
    );
    const parts = statusParts({
      admin: {
        request: () => of(),
        open: (path, headers) => openAnswer({ host: '127.0.0.1', port: admin, path, headers }),
      },
      targets,
      families$: of([
        { name: 'istio_agent_own', type: 'gauge', help: 'Own', samples: [{ value: 7 }] },
      ]),
    });
    let listening = false;
    subscriptions.push(
      statusServer(port, routes(parts)).subscribe({
        next: (event) => {
          listening ||= event.type === 'listening';
          events.push(event);
        },
        error: expect.unreachable,
      }),
    );
    await expect.poll(() => listening).toBe(true);
    return port;
  }

  function scrape(
    port: number,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
    return new Promise((done, fail) => {
      const clientRequest = httpRequest(
        { host: '127.0.0.1', port, path: '/stats/prometheus', headers, agent: false },
        (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece)).on('error', fail);
          response.on('end', () =>
            done({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(pieces),
            }),
          );
        },
      );
      clientRequest.on('error', fail).end();
    });
  }

  /** Reads both formats, each by the strict reader. */
  async function read(port: number, headers: Readonly<Record<string, string>> = {}) {
    const text = await scrape(port, headers);
    const other = await scrape(port, {
      ...headers,
      accept: 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5',
    });
    expect([text.status, other.status]).toEqual([200, 200]);
    expect(text.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(other.headers['content-type']).toBe(
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    );
    return {
      text: strictExposition(text.body.toString(), 'text'),
      openmetrics: strictExposition(other.body.toString(), 'openmetrics'),
    };
  }

  const agentRows = (
    families: ReadonlyMap<
      string,
      {
        readonly rows: readonly {
          readonly labels: ReadonlyMap<string, string>;
          readonly value: number;
        }[];
      }
    >,
    name: string,
  ) =>
    (families.get(name)?.rows ?? []).map(
      ({ labels, value }) =>
        `${[...labels.values()].map((text) => text.replace(/^\d+\//, '/')).join(' ')} ${value}`,
    );

  it('a text that is not an exposition is left out (the Go agent 1.6: passed on, and Prometheus refuses all)', async () => {
    const { text } = await read(await agentOver(says('foo'), says('')));
    expect(agentRows(text, 'istio_agent_scrape_dropped_rows_total')).toEqual([
      'envoy envoy 1',
      'application /metrics 0',
    ]);
  });

  const counters =
    '# TYPE my_metric counter\nmy_metric{} 0\n# TYPE my_other_metric counter\nmy_other_metric{} 0\n';
  it.each([
    { id: 'Envoy alone', envoy: counters, app: '', names: ['my_metric', 'my_other_metric'] },
    {
      id: 'the application alone',
      envoy: '',
      app: counters,
      names: ['my_metric', 'my_other_metric'],
    },
    {
      id: 'both',
      envoy: '# TYPE my_metric counter\nmy_metric{} 0\n',
      app: '# TYPE my_other_metric counter\nmy_other_metric{} 0\n',
      names: ['my_metric', 'my_other_metric'],
    },
  ])(
    '$id: has the families of Envoy, then of the application, then of the agent',
    async ({ envoy, app, names }) => {
      const { text, openmetrics: other } = await read(await agentOver(says(envoy), says(app)));
      expect([...text.keys()].slice(0, 3)).toEqual([...names, 'istio_agent_scrapes_total']);
      expect(names.map((name) => [text.get(name)?.type, other.get(name)?.type])).toEqual(
        names.map(() => ['counter', 'unknown']),
      );
    },
  );

  it('has the agent’s own metrics, also if there is nothing else', async () => {
    const { text } = await read(await agentOver(says('')));
    expect(text.get('istio_agent_scrapes_total')).toMatchObject({
      type: 'counter',
      rows: [{ value: 1 }],
    });
    expect(text.get('istio_agent_own')).toMatchObject({ type: 'gauge', rows: [{ value: 7 }] });
  });

  it.each([
    { envoy: true, app: true },
    { envoy: false, app: true },
    { envoy: true, app: false },
    { envoy: false, app: false },
  ])(
    'answers 200 with what there is: Envoy $envoy, application $app (the Go agent 1.6: 500)',
    async ({ envoy, app }) => {
      const failing: Answer = (_, response) => void response.writeHead(500).end('no');
      const { text } = await read(
        await agentOver(envoy ? says(envoyText) : failing, app ? says('app 1\n') : refuses),
      );
      expect([text.has('envoy_requests'), text.has('app')]).toEqual([envoy, app]);
      expect(agentRows(text, 'istio_agent_scrape_source_up')).toEqual([
        `envoy envoy ${Number(envoy)}`,
        `application /metrics ${Number(app)}`,
      ]);
      expect(agentRows(text, 'istio_agent_scrape_failures_total')).toEqual([
        ...(envoy ? [] : ['envoy envoy status 1']),
        ...(app ? [] : ['application /metrics unreachable 1']),
      ]);
    },
  );

  it.each<{ what: string; app: Answer; has: readonly string[]; fault?: string }>([
    {
      what: 'OpenMetrics with exemplars',
      app: says('# TYPE app counter\napp_total 1 # {trace="a"} 1 1.5\n# EOF\n', openmetrics),
      has: ['app'],
    },
    {
      what: 'a family that Envoy has too',
      app: says('# TYPE shared gauge\nshared{app="1"} 2\nfine 1\n'),
      has: ['fine'],
    },
    { what: 'gzip', app: says(gzipSync('app 1\n'), { 'content-encoding': 'gzip' }), has: ['app'] },
    {
      what: 'zstd, if Node has it',
      app: says(zstdCompressSync?.('app 1\n') ?? '', { 'content-encoding': 'zstd' }),
      ...(zstdCompressSync === undefined ? { has: [], fault: 'encoding' } : { has: ['app'] }),
    },
    {
      what: 'gzip that is none',
      app: says('app 1\n', { 'content-encoding': 'gzip' }),
      has: [],
      fault: 'cut_off',
    },
    {
      what: 'an encoding that nobody asked for',
      app: says('app 1\n', { 'content-encoding': 'br' }),
      has: [],
      fault: 'encoding',
    },
    {
      what: 'a wrong content type',
      app: says('app 1\n', { 'content-type': 'text/html' }),
      has: ['app'],
    },
    {
      what: 'broken UTF-8',
      app: says(
        Buffer.concat([
          Buffer.from('app{a="'),
          Buffer.from([0xff, 0xfe, 0x80]),
          Buffer.from('"} 1\nother 1\n'),
        ]),
      ),
      has: ['app', 'other'],
    },
    {
      what: 'protobuf',
      app: says(Buffer.from([0x0a, 0x03, 0x61, 0x62, 0x63]), {
        'content-type': 'application/vnd.google.protobuf; encoding=delimited',
      }),
      has: [],
      fault: 'format',
    },
    { what: 'a page', app: says('<html>\n<body>\n'), has: [] },
    {
      what: 'a redirect',
      app: (_, response) => void response.writeHead(302, { location: '/x' }).end(),
      has: [],
      fault: 'status',
    },
    { what: 'no end of its last line', app: says('app 1\nother 2'), has: ['app', 'other'] },
    {
      what: 'an end in the middle of a row',
      app: (_, response) =>
        void response
          .writeHead(200, { 'content-length': 100 })
          .write('app 1\nother 12', () => response.destroy()),
      has: ['app'],
      fault: 'cut_off',
    },
    {
      what: 'a line of 1 MiB',
      app: says(`app 1\nlong{a="${'x'.repeat(1 << 20)}"} 1\nother 1\n`),
      has: ['app', 'other'],
    },
    {
      what: '11 MiB',
      app: says(rows(12_000, 'x'.repeat(1_000))),
      has: ['app_rows'],
      fault: 'too_large',
    },
    {
      what: '11 MiB that are 50 KB on the way',
      app: says(gzipSync(`app 1\n${'# a comment that says nothing\n'.repeat(400_000)}late 1\n`), {
        'content-encoding': 'gzip',
      }),
      has: [],
      fault: 'too_large',
    },
    { what: '100,001 rows', app: says(rows(100_001)), has: ['app_rows'], fault: 'too_many_rows' },
    {
      what: '10,001 families',
      app: says(families(10_001)),
      has: names(10_001),
      fault: 'too_many_families',
    },
    {
      what: '100,000 rows of 10,000 families',
      app: says(`${families(9_999)}${'app_0 1\n'.repeat(90_000)}`),
      has: names(9_999),
    },
    {
      what: '20 lines of blanks',
      app: says(`app 1\n${`a 1 1${' '.repeat(60_000)}x\n`.repeat(20)}`),
      has: ['app'],
    },
    {
      what: '20 lines of digits',
      app: says(`app 1\n${`a ${'1'.repeat(60_000)}x\n`.repeat(20)}`),
      has: ['app'],
    },
    {
      what: '20 bounds of digits',
      app: says(
        `app 1\n# TYPE h histogram\n${`h_bucket{le="${'1'.repeat(60_000)}x"} 1\n`.repeat(20)}`,
      ),
      has: ['app'],
    },
    {
      what: '20 counters with a long name',
      app: says(longNames.map((name) => `# TYPE ${name} counter\n${name} 1\n`).join('')),
      has: longNames,
    },
    {
      what: '100 rows of 9,000 labels',
      app: says(
        `app 1\n${`a{${Array.from({ length: 9_000 }, (_, label) => `l${label}=""`).join(',')}} 1\n`.repeat(100)}`,
      ),
      has: ['app'],
    },
    {
      what: 'the agent’s own names',
      app: says('istio_agent_own 1\nistio_agent_evil 1\napp 1\n'),
      has: ['app'],
    },
  ])('is well-formed whatever the application says: $what', async ({ app, has, fault }) => {
    const patient = { 'x-prometheus-scrape-timeout-seconds': '120' };
    const families = await read(await agentOver(says(envoyText), app), patient);
    for (const [format, familiesByName] of Object.entries(families)) {
      const others = [...familiesByName.keys()]
        .map((name) => name.replace(/_total$/, ''))
        .filter(
          (name) => !name.startsWith('istio_agent') && !['envoy_requests', 'shared'].includes(name),
        );
      expect(others, format).toEqual(has);
      expect(familiesByName.get('shared')?.rows).toHaveLength(1);
    }
    const failures = agentRows(families.text, 'istio_agent_scrape_failures_total');
    expect(failures).toEqual(fault === undefined ? [] : [`application /metrics ${fault} 1`]);
  });

  it('gives in time what is there, beside sources that hang: one says nothing, one stops in the middle', async () => {
    const hangs: Answer = () => undefined;
    const stops: Answer = (_, response) => void response.writeHead(200).write('app_one 1\n');
    const port = await agentOver(hangs, stops, says('app_two 2\n'), hangs);
    const started = performance.now();
    const answer = await scrape(port, { 'x-prometheus-scrape-timeout-seconds': '2' });
    expect(performance.now() - started).toBeLessThan(6_000); // without the header it would be 8 s
    const families = strictExposition(answer.body.toString(), 'text');
    expect([...families.keys()].slice(0, 2)).toEqual(['app_one', 'app_two']);
    expect(agentRows(families, 'istio_agent_scrape_source_up')).toEqual([
      'envoy envoy 0',
      'application /metrics 0',
      'application /metrics 1',
      'application /metrics 0',
    ]);
  });

  it('asks each source for the format of the answer, never for protobuf, and says how long it waits', async () => {
    const requestHeaders: IncomingHttpHeaders[] = [];
    const port = await agentOver(({ headers }, response) => {
      requestHeaders.push(headers);
      response.end();
    });
    const accept =
      'application/vnd.google.protobuf;q=0.9,application/openmetrics-text;version=1.0.0;q=0.8,text/plain;q=0.5';
    await scrape(port, {
      accept,
      'user-agent': 'Prometheus/3',
      'x-prometheus-scrape-timeout-seconds': '5',
    });
    await scrape(port, { accept: 'text/plain' });
    await scrape(port, { accept: 'text/plain', 'x-prometheus-scrape-timeout-seconds': '3600' });
    expect(requestHeaders).toMatchObject([
      {
        accept:
          'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
        'user-agent': 'Prometheus/3',
        'x-prometheus-scrape-timeout-seconds': '4',
      },
      { accept: 'text/plain;version=0.0.4,*/*;q=0.1', 'x-prometheus-scrape-timeout-seconds': '8' },
      // The most is 2 minutes.
      { accept: 'text/plain;version=0.0.4,*/*;q=0.1', 'x-prometheus-scrape-timeout-seconds': '96' },
    ]);
  });

  it('compresses for who accepts it', async () => {
    const port = await agentOver(says(rows(20_000)));
    const answer = await scrape(port, { 'accept-encoding': 'gzip, deflate' });
    expect(answer.headers['content-encoding']).toBe('gzip');
    expect(
      strictExposition(gunzipSync(answer.body).toString(), 'text').get('app_rows')?.rows,
    ).toHaveLength(20_000);
    const other = await scrape(port, { 'accept-encoding': 'zstd' });
    expect(other.headers['content-encoding']).toBe(
      zstdCompressSync === undefined ? undefined : 'zstd',
    );
    expect(
      (await scrape(port, { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding'],
    ).toBeUndefined();
  });

  it('answers 16 scrapes at a time, and refuses one more until one of them is through', async () => {
    const openResponses: ServerResponse[] = [];
    const port = await agentOver((_, response) => void openResponses.push(response));
    // No scrape shares an answer: each has a time-out of its own.
    const wait = (seconds: number) =>
      scrape(port, { 'x-prometheus-scrape-timeout-seconds': String(seconds) });
    const scrapes = Array.from({ length: 16 }, (_, index) => wait(20 + index));
    await expect.poll(() => openResponses.length).toBe(16);
    expect((await wait(1)).status).toBe(503);
    const [first, ...others] = openResponses.splice(0);
    first?.end();
    await Promise.race(scrapes);
    const next = wait(20);
    await expect.poll(() => openResponses.length).toBe(1);
    expect((await wait(1)).status).toBe(503);
    for (const response of [...others, ...openResponses]) response.end();
    expect((await Promise.all([...scrapes, next])).map(({ status }) => status)).toEqual(
      Array.from({ length: 17 }, () => 200),
    );
  });

  it('tells once that an application has too many metrics', async () => {
    events.splice(0);
    const port = await agentOver(says(envoyText), says(families(10_001)));
    for (let time = 0; time < 3; time++) expect((await scrape(port)).status).toBe(200);
    expect(events.filter(({ type }) => type === 'metrics-refused')).toEqual([
      {
        type: 'metrics-refused',
        source: expect.stringMatching(/^application \d+\/metrics$/) as unknown,
        reason: 'it has more than 10,000 families',
      },
    ]);
  });

  it('names once the first row that is left out for each reason', async () => {
    events.splice(0);
    const port = await agentOver(
      says(envoyText),
      says('shared 2\n<b>\n<i>\n a 1\nb 1\na{c="\\d"} 1\n'),
    );
    for (let time = 0; time < 3; time++)
      expect((await scrape(port)).body.toString()).toContain(
        '\na 1\n# TYPE b untyped\nb 1\na{c="\\\\d"} 1\n',
      );
    expect(events.filter(({ type }) => type === 'metrics-left-out')).toEqual([
      {
        type: 'metrics-left-out',
        source: expect.stringMatching(/^application \d+\/metrics$/) as unknown,
        row: 'shared 2',
        reason: 'another source has a family of this name, or of one that would clash with it',
      },
      expect.objectContaining({ row: '<b>', reason: 'it is not a row of metrics' }) as unknown,
    ]);
  });

  it('is large one at a time: the others wait, or have Envoy, a part of the application, and the agent', async () => {
    // The application stops after the part that every answer may have, and ends when the test lets
    // it.
    const openResponses: ServerResponse[] = [];
    const port = await agentOver(says(envoyText), (_, response) => {
      openResponses.push(response);
      response.writeHead(200).write(rows(6_000));
    });
    const wait = (seconds: number) =>
      scrape(port, { 'x-prometheus-scrape-timeout-seconds': String(seconds) });
    const first = wait(30);
    await expect.poll(() => openResponses.length).toBe(1);
    const patient = wait(31);
    await expect.poll(() => openResponses.length).toBe(2);
    const hasty = strictExposition((await wait(1)).body.toString(), 'text');
    expect(agentRows(hasty, 'istio_agent_scrape_failures_total')).toEqual([
      'application /metrics busy 1',
    ]);
    expect([hasty.get('envoy_requests')?.rows.length, hasty.get('app_rows')?.rows.length]).toEqual([
      1,
      expect.any(Number),
    ]);
    for (const response of openResponses) response.end('last 1\n');
    for (const answer of [first, patient]) {
      const whole = strictExposition((await answer).body.toString(), 'text');
      expect([whole.get('app_rows')?.rows.length, whole.get('last')?.rows.length]).toEqual([
        6_000, 1,
      ]);
    }
  });

  it('does not answer its own scrape', async () => {
    let port = 0;
    let requestCount = 0;
    const loops: Answer = ({ headers }, response) => {
      requestCount++;
      httpRequest({ host: '127.0.0.1', port, path: '/stats/prometheus', headers }, (inner) => {
        response.writeHead(inner.statusCode ?? 0);
        inner.pipe(response);
      }).end();
    };
    port = await agentOver(says(envoyText), loops);
    const { text } = await read(port);
    expect(agentRows(text, 'istio_agent_scrape_failures_total')).toEqual([
      'application /metrics status 1',
    ]);
    // There is one request for each of the two formats, and none by the scrape within.
    expect(requestCount).toBe(2);
  });
});
