import { request as httpRequest, Server } from 'node:http';
import { of, type Subscription } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { initialState } from '../../../../src/epochs/model.ts';
import { noTimeline } from '../../../../src/epochs/timeline.ts';
import { asServer, type PartFailed } from '../../../../src/pilot-agent/run/state/part.ts';
import { epochsReport } from '../../../../src/pilot-agent/report/epoch-report.ts';
import { routes } from '../../../../src/pilot-agent/status/routes.ts';
import type { StatusEvent } from '../../../../src/pilot-agent/status/status-event.ts';
import type { StatusParts } from '../../../../src/pilot-agent/status/status-parts.ts';
import { statusServer } from '../../../../src/shared/http/status-server.ts';
import { notStarted } from '../../../../src/pilot-agent/status/probe/liveness.ts';
import { freePorts } from '../../../support/free-ports.ts';
import { statusParts } from '../../../support/status-parts.ts';

describe('the status port', () => {
  let serving: Subscription | undefined;
  afterEach(() => serving?.unsubscribe());

  async function serve(
    changes: Partial<StatusParts> = {},
  ): Promise<{ port: number; events: (StatusEvent | PartFailed)[] }> {
    const [port = 0] = await freePorts(1);
    const events: (StatusEvent | PartFailed)[] = [];
    const server$ = statusServer(port, routes(statusParts(changes)));
    serving = server$
      .pipe(asServer('status', { listening: 'listening', failed: 'failed' }))
      .subscribe({
        next: (event) => events.push(event),
        error: expect.unreachable,
      });
    await expect.poll(() => events.length).toBeGreaterThan(0);
    return { port, events };
  }
  const ask = (
    port: number,
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ) =>
    new Promise<{ status: number; body: string }>((done, fail) => {
      const clientRequest = httpRequest(
        { host: '127.0.0.1', port, method, path, headers, agent: false },
        (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
          response.on('end', () => done({ status: response.statusCode ?? 0, body }));
        },
      );
      clientRequest.on('error', fail).end();
    });

  it.each([
    ['Envoy does not answer', 'envoy-does-not-answer'],
    ['server is not live, current state is: INITIALIZING', 'server-is-not-live'],
    [
      'config not received from Pilot (is Pilot running?): cds updates: 0 successful',
      'config-not-received-from-pilot',
    ],
    ['failed to get readiness stats: 503', 'failed-to-get-readiness-stats'],
    ['waiting for /etc/certs/key.pem, ./etc/certs/root-cert.pem', 'waiting-for'],
    ['waiting for ./etc/certs/root-cert.pem', 'waiting-for'],
  ])('names the reason, as JSON for who wants it: %s', async (reason, name) => {
    const { port } = await serve({ unready$: of(reason) });
    const { status, body } = await ask(port, 'GET', '/healthz/ready', {
      accept: 'application/json',
    });
    expect([status, JSON.parse(body)]).toEqual([
      503,
      { ok: false, pending: [{ name, reason }], notes: [] },
    ]);
  });

  it('adds what should be known of an agent that is ready all the same', async () => {
    const notes = ['configuration refused: the key does not match the certificate'];
    const { port } = await serve({ notes$: of(notes) });
    const { status, body } = await ask(port, 'GET', '/healthz/ready', {
      accept: 'application/json',
    });
    expect([status, JSON.parse(body)]).toEqual([200, { ok: true, pending: [], notes }]);
    expect(await ask(port, 'GET', '/healthz/ready')).toEqual({ status: 200, body: '' });
  });

  it('says of liveness and of the start what is said to it', async () => {
    const { port } = await serve({
      unlive$: of('Envoy hangs'),
      unstarted$: of('Envoy is starting'),
    });
    expect(await ask(port, 'GET', '/healthz/live')).toEqual({ status: 503, body: 'Envoy hangs\n' });
    expect(await ask(port, 'GET', '/healthz/startup')).toEqual({
      status: 503,
      body: 'Envoy is starting\n',
    });
    expect((await ask(port, 'GET', '/healthz/ready')).status).toBe(200);
  });

  it.each([
    { served: false, reason: 'draining', expected: 'draining' },
    { served: false, reason: undefined, expected: 'Envoy is starting' },
    { served: true, reason: 'draining', expected: undefined },
  ])(
    'counts the start as over once an Envoy has been LIVE: $served',
    ({ served, reason, expected }) => {
      const reasons: unknown[] = [];
      notStarted(of({ ...initialState, served }), of(reason))
        .forEach((value) => reasons.push(value))
        .catch(expect.unreachable);
      expect(reasons).toEqual([expected]);
    },
  );

  it.each([
    ['/quitquitquit', { type: 'quit-requested' }],
    ['/drain', { type: 'drain-requested' }],
    ['/restart', { type: 'restart-requested', by: 'POST /restart' }],
  ])('passes on %s', async (path, event) => {
    const { port, events } = await serve();
    expect(await ask(port, 'POST', path)).toEqual({ status: 200, body: 'OK\n' });
    expect(events).toEqual([{ type: 'listening' }, event]);
  });

  it.each([
    {
      query: 'level=debug',
      status: 200,
      expectedQuestions: ['POST /logging?level=debug'],
      level: 'debug',
    },
    {
      query: 'level=WARN',
      status: 200,
      expectedQuestions: ['POST /logging?level=warning'],
      level: 'warn',
    },
    {
      query: 'level=critical',
      status: 200,
      expectedQuestions: ['POST /logging?level=critical'],
      level: 'fatal',
    },
    {
      query: 'paths=http:debug,rbac:info',
      status: 200,
      expectedQuestions: ['POST /logging?paths=http%3Adebug%2Crbac%3Ainfo'],
      level: undefined,
    },
    { query: 'level=toString', status: 400, expectedQuestions: [], level: undefined },
    { query: 'level=info&paths=a:info', status: 400, expectedQuestions: [], level: undefined },
    { query: '', status: 400, expectedQuestions: [], level: undefined },
  ])('changes log levels: $query', async ({ query, status, expectedQuestions, level }) => {
    const questions: string[] = [];
    const admin: StatusParts['admin'] = {
      ...statusParts().admin,
      request(method, path) {
        questions.push(`${method} ${path}`);
        return of({ ok: true, value: { status: 200, body: 'active loggers:\n' } });
      },
    };
    const { port, events } = await serve({ admin });
    expect((await ask(port, 'POST', `/logging?${query}`)).status).toBe(status);
    expect(questions).toEqual(expectedQuestions);
    expect(events.slice(1)).toEqual(
      level === undefined ? [] : [{ type: 'level-requested', level }],
    );
  });

  it('says so if the level has reached the agent, but not Envoy', async () => {
    const { port } = await serve({
      admin: {
        ...statusParts().admin,
        request: () => of({ ok: false, error: new Error('ECONNREFUSED') }),
      },
    });
    expect(await ask(port, 'POST', '/logging?level=info')).toEqual({
      status: 502,
      body: 'the agent has the new level, but Envoy does not answer\n',
    });
  });

  it('has the epochs, the configuration and the version as JSON', async () => {
    const { port } = await serve({
      epochs$: of(epochsReport(initialState, noTimeline, [])),
      config$: of({ a: 1 }),
      version: { version: '1' },
    });
    expect(JSON.parse((await ask(port, 'GET', '/debug/epochs')).body)).toEqual({
      epochs: [],
      counters: noTimeline.counters,
      pushes: [],
      stored: [],
    });
    expect(JSON.parse((await ask(port, 'GET', '/debug/config')).body)).toEqual({ a: 1 });
    expect(JSON.parse((await ask(port, 'GET', '/version')).body)).toEqual({ version: '1' });
  });

  it('lets nobody look inside under a name of another site that leads to this machine', async () => {
    const { port } = await serve();
    for (const path of [
      '/debug/epochs',
      '/debug/status',
      '/debug/events',
      '/debug/sources',
      '/debug/config',
      '/debug/pprof/profile',
      '/debug/pprof/heap',
    ])
      expect((await ask(port, 'GET', path, { host: 'evil.example:15020' })).status, path).toBe(403);
    for (const host of ['localhost:15020', '127.0.0.1', '[::1]:15020'])
      expect((await ask(port, 'GET', '/debug/config', { host })).status).toBe(200);
  });

  it('lets nobody look into the program without the token', async () => {
    const { port } = await serve({ profileToken: 'token' });
    for (const authorization of [
      undefined,
      '',
      'token',
      'Bearer',
      'Bearer toke',
      'Bearer tokens',
      'Basic token',
    ])
      for (const path of ['/debug/pprof/profile?seconds=0.1', '/debug/pprof/heap'])
        expect(
          (await ask(port, 'GET', path, authorization === undefined ? {} : { authorization }))
            .status,
        ).toBe(401);
  });

  it('lets one look into the program at a time', async () => {
    const { port } = await serve({ profileToken: 'token' });
    const look = () =>
      ask(port, 'GET', '/debug/pprof/profile?seconds=0.5', { authorization: 'Bearer token' });
    const first = look();
    await expect.poll(async () => (await look()).status).toBe(409);
    expect((await first).status).toBe(200);
  });

  it('answers 500 if an answer cannot be made, says so, and goes on', async () => {
    const { port, events } = await serve({
      admin: {
        ...statusParts().admin,
        request: () => {
          throw new Error('a bug');
        },
      },
    });
    expect((await ask(port, 'POST', '/logging?level=info')).status).toBe(500);
    expect(events.at(-1)).toEqual({ type: 'request-failed', path: '/logging', reason: 'a bug' });
    expect((await ask(port, 'GET', '/healthz/ready')).status).toBe(200);
  });

  it('is started again if it is closed', async () => {
    const { port, events } = await serve();
    const handles = (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles();
    const server = handles.find(
      (handle): handle is Server =>
        handle instanceof Server && (handle.address() as { port: number }).port === port,
    );
    if (server === undefined) throw new Error('no server');
    server.close();
    server.closeAllConnections();
    await expect.poll(() => events.length).toBeGreaterThanOrEqual(3);
    expect(events).toMatchObject([
      { type: 'listening' },
      { type: 'part-failed', part: 'status', reason: 'the server was closed' },
      { type: 'listening' },
    ]);
    expect((await ask(port, 'GET', '/healthz/ready')).status).toBe(200);
  });

  it('makes room for a new connection by the oldest that asks nothing', async () => {
    const { port } = await serve();
    const { connect } = await import('node:net');
    const sockets = Array.from({ length: 600 }, () =>
      connect(port, '127.0.0.1')
        .on('error', () => undefined)
        .resume(),
    );
    try {
      await expect.poll(() => sockets.every((socket) => !socket.connecting)).toBe(true);
      expect((await ask(port, 'GET', '/healthz/ready')).status).toBe(200);
      await expect
        .poll(
          () => sockets.filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length,
        )
        .toBeGreaterThanOrEqual(88);
      expect(sockets.at(-1)?.destroyed).toBe(false);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
