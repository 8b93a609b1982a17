import { resolve } from 'node:path';
import {
  concat,
  concatMap,
  defer,
  distinctUntilChanged,
  EMPTY,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  ReplaySubject,
  share,
  tap,
} from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { narrate } from '../../src/agent/narrate.ts';
import type { AdoptedEpoch } from '../../src/agent/ports.ts';
import type { Timeline } from '../../src/agent/timeline.ts';
import { narrateRun } from '../../src/run/narrate-run.ts';
import { runAgent } from '../../src/run/run-agent.ts';
import type { ShapedConfig } from '../../src/run/shape-source.ts';
import type { ServersSign, View } from '../../src/run/view.ts';
import type { Sources } from '../../src/config/sources.ts';
import type { LogLine } from '../../src/log/log-line.ts';
import type { StatusEvent } from '../../src/status/handler.ts';
import type { SourceChange, SourceReading } from '../../src/streams/config-source.ts';
import { configOf } from '../support/resolved.ts';
import { serving } from './support/draw-agent.ts';
import { fakeProxy, type Script } from './support/fake-proxy.ts';
import { marbles } from './support/marbles.ts';
import { drawnSource, readings } from './support/readings.ts';
import type { AgentConfig } from '../../src/config/agent-config.ts';

const statusEvents: Record<string, StatusEvent> = {
  l: { type: 'listening' },
  f: { type: 'failed', reason: 'address in use' },
  b: { type: 'broken', reason: 'it was closed' },
  q: { type: 'quit-requested' },
  d: { type: 'drain-requested' },
  r: { type: 'restart-requested' },
};
const changes: Record<string, SourceChange> = {
  c: { type: 'changed', path: '/etc/cert-chain.pem' },
  w: { type: 'watch-failed', path: '/etc/key.pem', reason: 'EACCES' },
};
/** What is said besides the transitions; e is told at the end. */
const lines: Record<string, LogLine> = {
  c: { level: 'info', event: 'config.change_seen', msg: 'change seen: the files are read after the window', component: 'watcher', path: '/etc/cert-chain.pem', delayMs: 10_000 }, // prettier-ignore
  s: { level: 'info', event: 'config.unchanged', msg: 'the files say what they said before', component: 'watcher' },
  w: { level: 'warn', event: 'config.watch_failed', msg: 'watching failed, and is tried again', component: 'watcher', path: '/etc/key.pem', reason: 'EACCES' }, // prettier-ignore
};
const ends = (counters: Partial<Timeline['counters']>): LogLine => ({
  ...{ level: 'info', event: 'agent.ended', msg: 'the agent ends' },
  ...{ changes: 0, windows: 1, restarts: 0, refusals: 0, crashes: 0, rescues: 0, drains: 0, ...counters },
});

const servers: Record<string, ServersSign> = {
  b: { type: 'servers-listening' },
  f: { type: 'servers-failed', exit: 'unavailable', reason: 'the socket is in use' },
};

/** What surrounds the agent, in marbles; nothing happens if left out. */
interface Surroundings {
  readonly config?: Partial<AgentConfig>;
  readonly script?: Script;
  /** Of the status port. It listens from the start if left out. */
  readonly status$?: Observable<StatusEvent>;
  /** It is there from the start if left out. */
  readonly servers$?: Observable<ServersSign>;
  readonly signals?: Partial<Record<NodeJS.Signals, Observable<unknown>>>;
  readonly terminal?: boolean;
  readonly missing$?: Observable<readonly string[]>;
  readonly adopted?: readonly AdoptedEpoch[];
  /** Of the files. */
  readonly changes$?: Observable<SourceChange>;
  /** What Envoy is started from besides the files. */
  readonly shape$?: Observable<SourceReading<ShapedConfig>>;
  /** What the files say, as `readings` has it. */
  readonly hash$?: Observable<string>;
}

/** `runAgent` with all that surrounds it drawn. A window of 10 s, a minimum of the drain of 5 s, one process unless the script says otherwise. */
function drawRun(m: RunHelpers, around: Surroundings) {
  const fake = fakeProxy(m, around.script ?? { processes: ['-'] });
  const told$ = new ReplaySubject<LogLine>(Infinity);
  const changed$ = new ReplaySubject<string>(Infinity);
  const views$ = new ReplaySubject<View>(Infinity);
  const watched: (readonly string[])[] = [];
  const served: number[] = [];
  const config = {
    ...configOf(),
    ...{ statusPort: 15_020, minDelay: 10_000, drainMinimum: 5_000, drainCap: 20_000, parentShutdownDuration: 60_000 },
    ...{ watched: [], customConfigFile: '', awaited: [], certificates: [], keepEnvoy: false, ...around.config },
  };
  const shaped: ShapedConfig = { epoch: { kind: 'given', path: '/envoy.json', override: '' }, known: undefined, warnings: [] };
  const steps$ = runAgent(
    config,
    {
      proxy: fake.proxy,
      adopted: around.adopted ?? [],
      admin: { request: () => NEVER, open: () => NEVER, located: () => false },
      shape: { changes$: NEVER, reading$: around.shape$ ?? of({ hash: 'shape', config: shaped, parts: () => [] }) },
      known: { config, sources: {} as Sources },
      terminal: around.terminal ?? false,
      servers$: around.servers$ ?? concat(of<ServersSign>({ type: 'servers-listening' }), NEVER),
      status: { probes: new Map(), targets: [], version: {} },
    },
    {
      files: (paths) => {
        watched.push(paths);
        return drawnSource({ changes$: around.changes$ ?? NEVER, hash$: around.hash$ ?? of('a') }, 'files');
      },
      random: () => 0.5,
      missing: () => around.missing$ ?? EMPTY,
      signals: (names) => merge(NEVER, ...names.map((name) => (around.signals?.[name] ?? NEVER).pipe(map(() => name)))),
      serve: ({ statusPort }, view$) => {
        const heard$ = view$.pipe(tap((view) => views$.next(view)), ignoreElements()); // prettier-ignore
        return defer(() => {
          served.push(statusPort);
          return merge(heard$, around.status$ ?? concat(of<StatusEvent>({ type: 'listening' }), NEVER));
        });
      },
    },
  ).pipe(
    tap((step) => {
      const { sign } = step.value;
      const transition = sign.type === 'transition' ? sign.transition : undefined;
      for (const line of narrateRun(step).slice(transition && narrate(transition).length)) told$.next(line);
      if (transition?.event.type !== 'config-changed') return;
      changed$.next(transition.event.reading.changed.map(({ source, part }) => `${source} ${part}`).join());
    }),
    share(),
  );
  const life$ = steps$.pipe(concatMap(({ value: { sign } }) => (sign.type === 'transition' ? [sign.transition] : [])));
  return {
    ...fake,
    watched,
    served,
    life$,
    /** Who serves; f and the reason where the run has ended without an agent. */
    serving$: merge(
      serving(life$.pipe(map(({ state }) => state))),
      steps$.pipe(concatMap(({ value: { sign } }) => (sign.type === 'failed' || sign.type === 'servers-failed' ? [sign.reason] : []))),
    ),
    /** Who asks it to end or to leave. */
    by$: life$.pipe(concatMap(({ event }) => ('by' in event ? [event.by] : []))),
    epochs$: fake.launched$.pipe(map(({ epoch }) => String(epoch))),
    /** What differs between the readings that make an epoch. */
    changed$: changed$.asObservable(),
    /** What is told besides the transitions. */
    told$: told$.asObservable(),
    /** What the status port is told. */
    heard: {
      serving$: serving(views$.pipe(map(({ agent }) => agent))),
      pasts$: views$.pipe(map(({ past }) => past)),
      families$: views$.pipe(map(({ families }) => families().length), distinctUntilChanged()), // prettier-ignore
    },
  };
}

describe('the first epoch', () => {
  it(
    'is started when the status port listens, and then the servers beside Envoy do',
    marbles((m) => {
      const status$ = m.hot('  1s l', statusEvents);
      const servers$ = m.cold(' 500ms b', servers);
      const hash$ = m.cold('   (a|)');
      const sigterm$ = m.hot(' -');
      const unsub = '          ^ 2999ms !';
      const run = drawRun(m, { status$, servers$, hash$, signals: { SIGTERM: sigterm$ } });
      m.expectObservable(run.serving$, unsub).toBe('1500ms n 499ms 0');
      m.expectObservable(run.epochs$).toBe('1500ms 0');
      m.expectSubscriptions(status$.subscriptions).toBe(unsub);
      m.expectSubscriptions(servers$.subscriptions).toBe('1s ^ 1999ms !');
      m.expectSubscriptions(hash$.subscriptions).toBe('1500ms (^!)');
      m.expectSubscriptions(sigterm$.subscriptions).toBe('1500ms ^ 1499ms !');
    }),
  );

  it(
    'is started at once, without a status port, where its number is 0',
    marbles((m) => {
      const run = drawRun(m, { config: { statusPort: 0 } });
      m.expectObservable(run.serving$, '^ 2s !').toBe('n 499ms 0');
      m.flush();
      expect(run.served).toEqual([]);
    }),
  );

  it(
    'has no second life when the status port breaks, and listens again',
    marbles((m) => {
      const status$ = m.hot('  1s l 4s b 999ms l', statusEvents);
      const servers$ = m.cold(' b', servers);
      const unsub = '          ^ 20s !';
      const run = drawRun(m, { status$, servers$ });
      m.expectObservable(run.serving$, unsub).toBe('1s n 499ms 0');
      m.expectSubscriptions(servers$.subscriptions).toBe('1s ^ 19s !');
      m.expectSubscriptions(status$.subscriptions).toBe(unsub);
    }),
  );

  it(
    'is started from files that were waited for',
    marbles((m) => {
      const missing$ = m.cold('m 1999ms (n|)', { m: ['key.pem'], n: [] });
      const hash$ = m.cold('   (a|)');
      const run = drawRun(m, { missing$, hash$ });
      m.expectObservable(run.serving$, '^ 4s !').toBe('n 2499ms 0');
      m.expectSubscriptions(hash$.subscriptions).toBe('2s (^!)');
    }),
  );

  it(
    'is the child of an Envoy that was kept, which is taken over first',
    marbles((m) => {
      const adopted = [{ epoch: 0, restartEpoch: 4, lineage: 0, pid: 4711 }];
      const run = drawRun(m, { adopted, script: { processes: ['-', '-'], health: ['l'] } });
      m.expectObservable(run.serving$, '^ 4s !').toBe('0 499ms 1');
      m.expectObservable(run.epochs$).toBe('(01)');
    }),
  );
});

describe('a status port that is not to be had', () => {
  it(
    'ends the run, and nothing is started',
    marbles((m) => {
      const status$ = m.hot('  1s f', statusEvents);
      const servers$ = m.cold(' b', servers);
      const run = drawRun(m, { status$, servers$ });
      m.expectObservable(run.serving$).toBe('1s (f|)', { f: 'address in use' });
      m.expectObservable(run.told$).toBe('');
      m.expectSubscriptions(status$.subscriptions).toBe('^ 999ms !');
      m.expectSubscriptions(servers$.subscriptions).toBe([]);
    }),
  );
});

describe('servers beside Envoy that cannot listen', () => {
  it(
    'end the run, and nothing is started',
    marbles((m) => {
      const status$ = m.hot('  1s l', statusEvents);
      const servers$ = m.cold('500ms f', servers);
      const run = drawRun(m, { status$, servers$ });
      m.expectObservable(run.serving$).toBe('1500ms (f|)', { f: 'the socket is in use' });
      m.expectObservable(run.epochs$).toBe('');
      m.expectSubscriptions(status$.subscriptions).toBe('^ 1499ms !');
    }),
  );
});

describe('a change', () => {
  it(
    'goes with the reading that it makes: which source, and which part of it',
    marbles((m) => {
      const changes$ = m.hot(' 20s c', changes);
      const run = drawRun(m, { changes$, hash$: readings('ab'), script: { processes: ['-', '-'] } });
      m.expectObservable(run.life$.pipe(ignoreElements()), '^ 40s !').toBe('-');
      m.expectObservable(run.changed$).toBe('n 29999ms f', { n: '', f: 'files ' });
    }),
  );

  it(
    'is told, and after the window there is a new epoch; more of them in the window change nothing',
    marbles((m) => {
      const changes$ = m.hot(' 20s c 999ms c 8998ms c 28s c', changes);
      const hash$ = readings(' abc');
      //                               [ 10s ]
      const told = '           20s c 37999ms c';
      const epochs = '         0 29999ms 1 37999ms 2';
      const serving = '        n 499ms 0 29999ms 1 37999ms 2';
      const script = { processes: ['55s c', '-', '-'] };
      const run = drawRun(m, { changes$, hash$, script, config: { parentShutdownDuration: 20_000 } });
      m.expectObservable(run.serving$, '^ 70s !').toBe(serving);
      m.expectObservable(run.epochs$).toBe(epochs);
      m.expectObservable(run.told$).toBe(told, lines);
    }),
  );

  it(
    'after which the files say what they said is told so; a reading that nobody asked for, or by hand, is not',
    marbles((m) => {
      const changes$ = m.hot('   20s c', changes);
      const status$ = m.hot('    l 89999ms r', statusEvents);
      const told = '             20s c 9999ms s';
      const epochs = '           0 89999ms 1';
      const run = drawRun(m, { changes$, status$, script: { processes: ['-', '-'] } });
      m.expectObservable(run.serving$, '^ 200s !').toBe('n 499ms 0 89999ms 1');
      m.expectObservable(run.told$).toBe(told, lines);
      m.expectObservable(run.epochs$).toBe(epochs);
    }),
  );

  it(
    'that can not be watched for is told',
    marbles((m) => {
      const changes$ = m.hot('   20s w', changes);
      const run = drawRun(m, { changes$ });
      m.expectObservable(run.life$.pipe(ignoreElements()), '^ 40s !').toBe('-');
      m.expectObservable(run.told$).toBe('20s w', lines);
    }),
  );

  it(
    'waits for an older Envoy that drains for as many whole seconds as Envoy does',
    marbles((m) => {
      const changes$ = m.hot(' 20s c 1999ms c', changes);
      const hash$ = readings(' abc');
      //                                   [ 1s, then 2s ]
      const epochs = '         0 20999ms 1 3999ms 2';
      const config = { minDelay: 1_000, parentShutdownDuration: 2_999 };
      const run = drawRun(m, { changes$, hash$, config, script: { processes: ['-', '-', '-'] } });
      m.expectObservable(run.life$.pipe(ignoreElements()), '^ 40s !').toBe('-');
      m.expectObservable(run.epochs$).toBe(epochs);
    }),
  );

  it(
    'is looked for in the files that are to be watched and in the custom configuration',
    marbles((m) => {
      const { watched } = drawRun(m, { config: { watched: ['certs/key.pem', ''], customConfigFile: 'envoy.json' } });
      expect(watched).toEqual([[resolve('certs/key.pem'), resolve('envoy.json')]]);
    }),
  );
});

describe('a signal', () => {
  const asks = [
    { name: 'SIGTERM', terminal: false },
    { name: 'SIGINT', terminal: false },
    { name: 'SIGHUP', terminal: true },
  ] as const;

  it.each(asks)('$name asks Envoy to drain, then the agent ends', ({ name, terminal }) =>
    marbles((m) => {
      const signal$ = m.hot('  10s s');
      //                           [ 5s ]
      const serving = '        n 499ms 0 9499ms D 4999ms (A|)';
      const drains = '         10s g 4999ms p';
      const run = drawRun(m, { signals: { [name]: signal$ }, terminal });
      m.expectObservable(run.serving$).toBe(serving);
      m.expectObservable(run.by$).toBe('10s b 4999ms |', { b: name });
      m.expectObservable(run.drained$).toBe(drains, { g: 'g0', p: 'p0' });
      m.expectObservable(run.signalled$).toBe('15s T');
      m.expectSubscriptions(signal$.subscriptions).toBe('^ 14999ms !');
    })(),
  );

  it.each(asks)('$name ends the agent at once and leaves Envoy alone with --keepEnvoy', ({ name, terminal }) =>
    marbles((m) => {
      const signal$ = m.hot('  10s s');
      const run = drawRun(m, { signals: { [name]: signal$ }, terminal, config: { keepEnvoy: true } });
      m.expectObservable(run.serving$).toBe('n 499ms 0 9499ms (A|)');
      m.expectObservable(run.drained$).toBe('');
      m.expectObservable(run.signalled$).toBe('');
    })(),
  );

  it(
    'SIGTERM waits for what is in flight until the cap that is configured',
    marbles((m) => {
      const signal$ = m.hot('  10s s');
      const serving = '        n 499ms 0 9499ms D 7999ms (A|)';
      const script = { processes: ['-'], active: ['3'] };
      const run = drawRun(m, { signals: { SIGTERM: signal$ }, script, config: { drainCap: 8_000 } });
      m.expectObservable(run.serving$).toBe(serving);
    }),
  );

  it.each([false, true])('SIGHUP off a terminal restarts, with --keepEnvoy %s', (keepEnvoy) =>
    marbles((m) => {
      const signal$ = m.hot('  10s s');
      const run = drawRun(m, { signals: { SIGHUP: signal$ }, script: { processes: ['-', '-'] }, config: { keepEnvoy } });
      m.expectObservable(run.serving$, '^ 20s !').toBe('n 499ms 0 9999ms 1');
      m.expectObservable(run.told$).toBe('');
      m.expectSubscriptions(signal$.subscriptions).toBe('^ 20s !');
    })(),
  );

  it(
    'SIGUSR1 has Envoy open its log files anew',
    marbles((m) => {
      const signal$ = m.hot('  10s s');
      const run = drawRun(m, { signals: { SIGUSR1: signal$ } });
      m.expectObservable(run.serving$, '^ 20s !').toBe('n 499ms 0');
      m.expectObservable(run.signalled$).toBe('10s U');
    }),
  );
});

describe('a request at the status port', () => {
  it.each([false, true])('to quit asks Envoy to drain, then the agent ends, with --keepEnvoy %s', (keepEnvoy) =>
    marbles((m) => {
      const status$ = m.hot('  l 9999ms q', statusEvents);
      const run = drawRun(m, { status$, config: { keepEnvoy } });
      m.expectObservable(run.serving$).toBe('n 499ms 0 9499ms D 4999ms (A|)');
      m.expectObservable(run.by$).toBe('10s b 4999ms |', { b: '/quitquitquit' });
      m.expectObservable(run.drained$).toBe('10s g 4999ms p', { g: 'g0', p: 'p0' });
    })(),
  );

  it(
    'to drain tells Envoy, and the agent goes on',
    marbles((m) => {
      const status$ = m.hot('  l 9999ms d', statusEvents);
      const run = drawRun(m, { status$ });
      m.expectObservable(run.serving$, '^ 60s !').toBe('n 499ms 0 9499ms D');
      m.expectObservable(run.drained$).toBe('10s g', { g: 'g0' });
    }),
  );

  it(
    'to restart reads the files and starts an epoch, whatever they say',
    marbles((m) => {
      const status$ = m.hot('  l 9999ms r', statusEvents);
      const hash$ = m.cold('   1s (a|)');
      const read = ['          ^ 999ms !', '10s ^ 999ms !'];
      const run = drawRun(m, { status$, hash$, script: { processes: ['-', '-'] } });
      m.expectObservable(run.serving$, '^ 20s !').toBe('1s n 499ms 0 9999ms 1');
      m.expectSubscriptions(hash$.subscriptions).toBe(read);
    }),
  );
});

describe('the status port', () => {
  it(
    'is told at once what holds, then each state, and what has happened up to it',
    marbles((m) => {
      const changes$ = m.hot(' 2s c', changes);
      const servers$ = m.hot<ServersSign>('  1s (bf)', {
        b: { type: 'servers-listening' },
        f: { type: 'servers-measured', families: () => [{ name: 'beside', type: 'gauge', help: '', samples: [] }] },
      });
      const hash$ = m.cold('   500ms (a|)');
      const run = drawRun(m, { changes$, servers$, hash$, script: { processes: ['S'] } });
      const pasts$ = run.heard.pasts$.pipe(map(({ counters, epochs }) => [counters.changes, counters.windows, Math.floor(epochs.at(-1)?.liveAt ?? 0)].join(' ')), distinctUntilChanged()); // prettier-ignore
      m.expectObservable(run.life$.pipe(ignoreElements()), '^ 5s !').toBe('-');
      m.expectObservable(run.heard.serving$).toBe('n 1999ms 0');
      m.expectObservable(run.heard.families$).toBe('0 999ms 1', { 0: 0, 1: 1 });
      m.expectObservable(pasts$).toBe('a 1499ms b 499ms (cd)', { a: '0 0 0', b: '0 1 0', c: '1 1 0', d: '1 1 2000' });
    }),
  );
});

describe('what goes wrong with the status port', () => {
  it(
    'is told, and the agent goes on',
    marbles((m) => {
      const status$ = m.hot('  l 9999ms b 9999ms e', {
        ...statusEvents,
        e: { type: 'request-failed' as const, path: '/drain', reason: 'no' },
      });
      const run = drawRun(m, { status$ });
      m.expectObservable(run.serving$, '^ 30s !').toBe('n 499ms 0');
      m.expectObservable(run.told$).toBe('10s b 9999ms e', {
        b: {
          level: 'error',
          event: 'status.broken',
          msg: 'the status server broke, and is started again',
          component: 'status',
          reason: 'it was closed',
        },
        e: {
          level: 'error',
          event: 'status.request_failed',
          msg: 'a request could not be answered',
          component: 'status',
          path: '/drain',
          reason: 'no',
        },
      });
    }),
  );
});

describe('a warning about the configuration', () => {
  it(
    'is told once',
    marbles((m) => {
      const changes$ = m.hot(' 20s c', changes);
      const config: ShapedConfig = {
        epoch: { kind: 'given', path: '/envoy.json', override: '' },
        known: undefined,
        warnings: ['no labels'],
      };
      const shape$ = m.cold('  (s|)', { s: { hash: 'shape', config, parts: () => [] } });
      const run = drawRun(m, { changes$, shape$ });
      m.expectObservable(run.serving$, '^ 40s !').toBe('n 499ms 0');
      m.expectObservable(run.told$).toBe('w 19999ms c 9999ms s', {
        ...lines,
        w: { level: 'warn', event: 'config.warning', msg: 'configuration warning', component: 'watcher', warning: 'no labels' },
      });
    }),
  );
});

describe('the end', () => {
  it(
    'comes with the last Envoy where the policy is exit, and its counters, the last transition in them, are told last',
    marbles((m) => {
      const changes$ = m.hot(' 2s c 999ms c', changes);
      const status$ = m.hot('  l', statusEvents);
      const told = '           2s c 2999ms e';
      const script = { processes: ['5s x'] };
      const run = drawRun(m, { changes$, status$, script, config: { envoyRestartPolicy: 'exit' } });
      m.expectObservable(run.serving$).toBe('n 499ms 0 4499ms (E|)');
      m.expectObservable(run.told$).toBe(told, { ...lines, e: ends({ changes: 2, crashes: 1 }) });
      m.expectSubscriptions(status$.subscriptions).toBe('^ 4999ms !');
      m.expectSubscriptions(changes$.subscriptions).toBe('^ 4999ms !');
    }),
  );

  it(
    'comes when the restart budget is spent',
    marbles((m) => {
      const script = { processes: ['1s k', '1s k'] };
      const run = drawRun(m, { script, config: { envoyRestartBudget: 1 } });
      m.expectObservable(run.serving$).toBe('n 499ms 0 499ms n 699ms 1 499ms (E|)');
      m.expectObservable(run.told$).toBe('2200ms e', { e: ends({ crashes: 2, restarts: 1 }) });
    }),
  );

  it(
    'of the subscription ends all others, and nothing is told',
    marbles((m) => {
      const unsub = '          ^ 4999ms !';
      const hots = { SIGTERM: m.hot('-'), SIGINT: m.hot('-'), SIGHUP: m.hot('-'), SIGUSR1: m.hot('-') };
      const changes$ = m.hot(' -', changes);
      const status$ = m.hot('  l', statusEvents);
      const servers$ = m.hot('  b', servers);
      const run = drawRun(m, { changes$, status$, servers$, signals: hots });
      m.expectObservable(run.serving$, unsub).toBe('n 499ms 0');
      for (const { subscriptions } of [changes$, status$, servers$, ...Object.values(hots)])
        m.expectSubscriptions(subscriptions).toBe(unsub);
      m.expectSubscriptions(run.lives[0] ?? []).toBe(unsub);
      m.expectObservable(run.told$).toBe('');
    }),
  );
});
