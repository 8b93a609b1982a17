import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  BehaviorSubject,
  combineLatest,
  concat,
  ignoreElements,
  map,
  merge,
  mergeMap,
  NEVER,
  Observable,
  of,
  share,
  take,
} from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { Epoch } from '../../src/epochs/epoch.ts';
import { type AgentState, initialState } from '../../src/epochs/model.ts';
import { noTimeline, type Timeline } from '../../src/epochs/timeline.ts';
import { serveStatus } from '../../src/pilot-agent/run/status/serve-status.ts';
import type { EpochsReport } from '../../src/pilot-agent/report/epoch-report.ts';
import type { Sources } from '../../src/pilot-agent/config/sources.ts';
import { firstView, type RunView } from '../../src/pilot-agent/run/state/view.ts';
import type { MetricFamily } from '../../src/shared/metrics/metric-family.ts';
import type { Handler } from '../../src/shared/http/handler.ts';
import type { StatusEvent, StatusSign } from '../../src/pilot-agent/status/status-event.ts';
import type { StatusParts } from '../../src/pilot-agent/status/status-parts.ts';
import { routes } from '../../src/pilot-agent/status/routes.ts';
import { shown } from '../support/shown.ts';
import { configOf } from '../support/resolved.ts';
import { at } from '../../src/testing/at.ts';
import { marbles } from '../support/marbles/marbles.ts';

const epoch: Epoch = {
  hash: 'hash',
  restartEpoch: 0,
  lineage: 0,
  parentTime: 'over',
  stage: 'starting',
  answering: true,
};
const running: AgentState = { ...initialState, lastEpoch: 0, epochs: new Map([[0, epoch]]) };
const live: AgentState = {
  ...running,
  served: true,
  epochs: new Map([[0, { ...epoch, stage: 'live', pid: 1 }]]),
};
const states: Record<string, AgentState> = {
  s: running,
  l: live,
  q: { ...live, epochs: new Map([[0, { ...epoch, stage: 'live', answering: false }]]) },
  d: { ...live, phase: 'draining' },
  r: { ...live, refused: { hash: 'bad', reason: 'key does not match' } },
};
const events: Record<string, StatusEvent> = {
  l: { type: 'listening' },
  b: { type: 'failed', reason: 'address in use' },
  f: { type: 'request-failed', path: '/drain', reason: 'no' },
  n: { type: 'level-requested', level: 'debug' },
  q: { type: 'quit-requested' },
};
const validConfig = { config: configOf(), sources: {} as Sources };
const ready = 'server.state: 0\nlistener_manager.workers_started: 1\n';

/**
 * The surroundings of the status port, in marbles; each one begins with its initial value. Envoy
 * reports that it is ready if `stats` is left out.
 */
interface Surroundings {
  readonly state$?: Observable<AgentState>;
  readonly past$?: Observable<Timeline>;
  readonly families$?: Observable<RunView['families']>;
  readonly secrets$?: Observable<RunView['secrets']>;
  readonly events$?: Observable<StatusEvent>;
  readonly stats?: string;
}

/**
 * Draws the status port, which listens from the start. It answers requests at the times of a
 * diagram: `ask('10s a', '/healthz/ready')`.
 */
function drawStatus(m: RunHelpers, around: Surroundings) {
  const state$ = current(initialState, around.state$);
  const requests: string[] = [];
  const listened: [number, StatusParts][] = [];
  const view$ = combineLatest([
    state$,
    current(noTimeline, around.past$),
    current<RunView['families']>(new Map(), around.families$),
    current<RunView['secrets']>([], around.secrets$),
  ]).pipe(
    map(([agent, past, families, secrets]): RunView => ({
      ...firstView(validConfig, 0),
      agent,
      past,
      families,
      secrets,
    })),
  );
  const served$ = serveStatus(
    { ...configOf(), statusPort: 15_020, readinessTimeout: 300 },
    view$,
    {
      admin: {
        request: (method, path, timeoutMs) => {
          requests.push(`${method} ${path.replace(/\?.*/, '')} ${String(timeoutMs)}`);
          return of({ ok: true, value: { status: 200, body: around.stats ?? ready } });
        },
        open: () => NEVER,
        located: () => true,
      },
      ...shown,
    },
    {
      socket: () => NEVER,
      port: (port, parts) => {
        listened.push([port, parts]);
        return around.events$ ?? concat(of<StatusEvent>({ type: 'listening' }), NEVER);
      },
    },
  ).pipe(share());
  const parts = listened[0]?.[1];
  if (parts === undefined) throw new Error('nothing listens');
  const route = routes(parts);
  return {
    parts,
    listened,
    served$,
    requests,
    ask: (times: string, path: string, accept = '*/*') =>
      m.hot(times).pipe(mergeMap(() => answered(route(path), request(path, accept)))),
    /** Runs the server during `unsub`. */
    serve: (unsub: string) => m.expectObservable(served$.pipe(ignoreElements()), unsub).toBe('-'),
  };
}

/** Returns an Observable that emits its current value at once. */
function current<T>(first: T, source$: Observable<T> = NEVER): Observable<T> {
  const current$ = new BehaviorSubject(first);
  source$.subscribe({ next: (value) => current$.next(value), error: expect.unreachable });
  return current$;
}

function request(url: string, accept: string): IncomingMessage {
  return {
    url,
    method: 'GET',
    headers: { accept },
    socket: { remoteAddress: '127.0.0.1' },
  } as unknown as IncomingMessage;
}

/** Emits the status and the body of the answer of `handler`. */
function answered(handler: Handler<StatusSign>, incoming: IncomingMessage): Observable<string> {
  return new Observable((subscriber) => {
    let status = 0;
    const response = {
      writeHead(code: number) {
        status = code;
        return response;
      },
      end: (body: string) => subscriber.next(`${status} ${body.trim()}`.trim()),
    };
    return handler(incoming, response as unknown as ServerResponse).subscribe({
      error: expect.unreachable,
    });
  });
}

describe('the probes', () => {
  it(
    'follow the state: readiness what is now, the start what once was',
    marbles((m) => {
      const state$ = m.hot(at({ '10s': 's', '20s': 'l', '30s': 'd' }), states);
      const times = at({ '5s': 'a', '15s': 'a', '25s': 'a', '35s': 'a' });
      const ready = at({ '5s': 'n', '15s': 'y', '25s': 'y', '35s': 'd' });
      const startup = at({ '5s': 'n', '15s': 's', '25s': 'y', '35s': 'y' });
      const status = drawStatus(m, { state$ });
      const answers = {
        n: '503 Envoy has not been started yet',
        s: '503 Envoy is starting',
        y: '200',
        d: '503 draining',
      };
      status.serve('^ 40s !');
      m.expectObservable(status.ask(times, '/healthz/ready')).toBe(ready, answers);
      m.expectObservable(status.ask(times, '/healthz/startup')).toBe(startup, answers);
      m.expectObservable(status.ask(times, '/healthz/live')).toBe(times, { a: '200' });
    }),
  );

  it(
    'name a secret that is missing, which ends no pod that starts, and note one that is refused',
    marbles((m) => {
      const missing = { name: 'default', reason: 'no such file', isServed: false };
      const refused = { name: 'ROOTCA', reason: 'empty', isServed: true };
      const secrets$ = m.hot(at({ '10s': 'm', '20s': 'b', '30s': 'r' }), {
        m: [missing],
        b: [missing, refused],
        r: [refused],
      });
      const times = at({ '5s': 'a', '15s': 'a', '25s': 'a', '35s': 'a' });
      const status = drawStatus(m, { state$: m.hot('l', states), secrets$ });
      const answers = { y: '200', m: '503 secret default: no such file' };
      const noted = { e: [], b: ['secret ROOTCA refused: empty'] };
      const notes$ = status
        .ask(times, '/healthz/ready', 'application/json')
        .pipe(map((answer) => (JSON.parse(answer.slice(4)) as { notes: unknown }).notes));
      status.serve('^ 40s !');
      m.expectObservable(status.ask(times, '/healthz/ready')).toBe(
        at({ '5s': 'y', '15s': 'm', '25s': 'm', '35s': 'y' }),
        answers,
      );
      m.expectObservable(notes$).toBe(at({ '5s': 'e', '15s': 'e', '25s': 'b', '35s': 'b' }), noted);
      m.expectObservable(status.ask(times, '/healthz/startup')).toBe(times, { a: '200' });
    }),
  );

  it(
    'ask Envoy for as long as is configured, and say what it lacks',
    marbles((m) => {
      const state$ = m.hot('   l', states);
      const status = drawStatus(m, {
        state$,
        stats: 'server.state: 0\nlistener_manager.workers_started: 0\n',
      });
      status.serve('^ 10s !');
      m.expectObservable(status.ask('5s a', '/healthz/ready')).toBe('5s n', {
        n: '503 workers have not yet started',
      });
      m.flush();
      expect(status.requests).toEqual(['GET /stats 300']);
      expect(status.listened.map(([port]) => port)).toEqual([15_020]);
    }),
  );

  it(
    'of liveness count from when Envoy fell silent, not from the first of them, and are over when it answers',
    marbles((m) => {
      const state$ = m.hot(at({ '0s': 'l', '10s': 'q', '50s': 'l' }), states);
      // it has been silent for 2 s at 10 s, and for 30 s at 38 s
      const times = at({ '37.999s': 'a', '38.001s': 'a', '50s': 'a' });
      const answers = at({ '37.999s': 'y', '38.001s': 'n', '50s': 'y' });
      const status = drawStatus(m, { state$ });
      status.serve('^ 60s !');
      m.expectObservable(status.ask(times, '/healthz/live')).toBe(answers, {
        y: '200',
        n: '503 Envoy hangs',
      });
    }),
  );

  it(
    'tell as JSON that the newest configuration is refused, for as long as it is',
    marbles((m) => {
      const state$ = m.hot(at({ '0s': 'l', '10s': 'r', '20s': 'l' }), states);
      const times = at({ '5s': 'a', '15s': 'a', '25s': 'a' });
      const answers = at({ '5s': 'y', '15s': 'n', '25s': 'y' });
      const body = (notes: readonly string[]) =>
        `200 ${JSON.stringify({ ok: true, pending: [], notes })}`;
      const status = drawStatus(m, { state$ });
      status.serve('^ 60s !');
      m.expectObservable(status.ask(times, '/healthz/ready', 'application/json')).toBe(answers, {
        y: body([]),
        n: body(['configuration refused: key does not match']),
      });
    }),
  );
});

const record = {
  epoch: 0,
  lineage: 0,
  hash: 'a',
  why: 'first',
  changed: [],
  launchedAt: 0,
} as const;
const past: Timeline = {
  ...noTimeline,
  epochs: [record],
  counters: { ...noTimeline.counters, changes: 3 },
};

describe('what is told of the state and of the past', () => {
  it(
    '/debug/epochs has both as they are',
    marbles((m) => {
      const state$ = m.hot('10s s', states);
      const past$ = m.hot('20s p', { p: past });
      const times = at({ '5s': 'a', '15s': 'a', '25s': 'a' });
      const answers = at({ '5s': 'a', '15s': 'b', '25s': 'c' });
      const status = drawStatus(m, { state$, past$ });
      const reports$ = status.ask(times, '/debug/epochs').pipe(
        map((answer) => {
          const { epochs, counters } = JSON.parse(answer.replace(/^200 /, '')) as EpochsReport;
          return [epochs.map(({ state }) => state).join(), counters['changes']];
        }),
      );
      status.serve('^ 60s !');
      m.expectObservable(reports$).toBe(answers, { a: ['', 0], b: ['', 0], c: ['starting', 3] });
    }),
  );

  it(
    'the metrics have both, those of the servers beside Envoy as they are now, and those of the process',
    marbles((m) => {
      let secrets = 0;
      const beside = () => [
        { name: 'secrets', type: 'gauge' as const, help: '', samples: [{ value: secrets++ }] },
      ];
      const state$ = m.hot('10s s', states);
      const past$ = m.hot('20s p', { p: past });
      const families$ = m.hot('30s f', { f: new Map([['secrets', beside]]) });
      const times = at({ '5s': 'a', '15s': 'a', '25s': 'a', '35s': 'a', '45s': 'a' });
      const answers = at({ '5s': 'a', '15s': 'b', '25s': 'c', '35s': 'd', '45s': 'e' });
      const status = drawStatus(m, { state$, past$, families$ });
      const names = ['istio_agent_epochs_total', 'istio_agent_config_changes_total', 'secrets'];
      const value = (families: readonly MetricFamily[], name: string) =>
        families.find((family) => family.name === name)?.samples[0]?.value;
      const values$ = m.hot(times).pipe(
        mergeMap(() => status.parts.families$.pipe(take(1))),
        map((families) => [
          ...names.map((name) => value(families, name)),
          families.some(({ name }) => name.startsWith('istio_agent_process_')),
        ]),
      );
      status.serve('^ 60s !');
      m.expectObservable(values$).toBe(answers, {
        a: [0, 0, undefined, true],
        b: [1, 0, undefined, true],
        c: [1, 3, undefined, true],
        d: [1, 3, 0, true],
        e: [1, 3, 1, true],
      });
    }),
  );
});

describe('what becomes of the server', () => {
  it(
    'is passed on',
    marbles((m) => {
      const events$ = m.hot(
        at({ '0s': 'l', '10s': 'b', '20s': 'f', '30s': 'n', '40s': 'q' }),
        events,
      );
      const unsub = '^ 60s !';
      const status = drawStatus(m, { events$ });
      m.expectObservable(status.served$, unsub).toBe(
        at({ '0s': 'l', '10s': 'b', '20s': 'f', '30s': 'n', '40s': 'q' }),
        events,
      );
      m.expectSubscriptions(events$.subscriptions).toBe(unsub);
    }),
  );

  it(
    'tells once when the agent is ready for the first time, whether somebody asks or not',
    marbles((m) => {
      const state$ = m.hot('10s l', states);
      const status = drawStatus(m, { state$, events$: NEVER });
      m.expectObservable(status.served$, '^ 60s !').toBe('10s r', { r: { type: 'found-ready' } });
      m.expectObservable(
        status
          .ask(at({ '5s': 'a', '15s': 'a', '25s': 'a' }), '/healthz/ready')
          .pipe(ignoreElements()),
        '^ 60s !',
      ).toBe('-');
    }),
  );

  it(
    'liveness is looked after once, whoever asks, until the server is given up',
    marbles((m) => {
      const state$ = m.hot('s', states);
      const unsub = at({ '0s': '^', '10s': '!' });
      const live$ = serveStatus(
        { ...configOf(), statusPort: 15_020, readinessTimeout: 0 },
        state$.pipe(map((agent): RunView => ({ ...firstView(validConfig, 0), agent }))),
        {
          admin: { request: () => NEVER, open: () => NEVER, located: () => false },
          ...shown,
        },
        {
          socket: () => NEVER,
          port: (_, { unlive$ }) => merge(unlive$, unlive$).pipe(ignoreElements()),
        },
      );
      m.expectObservable(live$, unsub).toBe('-');
      m.expectSubscriptions(state$.subscriptions).toBe([unsub, unsub]); // the second one waits for the first LIVE Envoy
    }),
  );
});
