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
import { narrate } from '../../src/epochs/narrate.ts';
import type { AdminClient } from '../../src/proxy/admin-client.ts';
import type { AdoptedEpoch } from '../../src/epochs/ports.ts';
import type { Timeline } from '../../src/epochs/timeline.ts';
import { runAgent } from '../../src/pilot-agent/run/run-agent.ts';
import type { ShapedConfig } from '../../src/pilot-agent/run/start/shape-source.ts';
import type { ServersSign, RunView } from '../../src/pilot-agent/run/state/view.ts';
import type { Sources } from '../../src/pilot-agent/config/sources.ts';
import type { LogLine } from '../../src/shared/log/log-line.ts';
import type { StatusEvent } from '../../src/pilot-agent/status/status-event.ts';
import type { SourceChange, SourceReading } from '../../src/streams/config-source.ts';
import { shown } from '../support/shown.ts';
import { configOf } from '../support/resolved.ts';
import { at } from '../../src/testing/at.ts';
import { serving } from '../../src/testing/scripted-agent.ts';
import type { Script } from '../../src/testing/fake-script.ts';
import { fakeProxy } from '../support/marbles/slow-envoy.ts';
import { marbles } from '../support/marbles/marbles.ts';
import { play } from '../../src/testing/play.ts';
import { drawnSource, readings } from '../support/marbles/readings.ts';
import type { AgentConfig } from '../../src/pilot-agent/config/agent-config.ts';

const statusEvents: Record<string, StatusEvent> = {
  l: { type: 'listening' },
  f: { type: 'failed', reason: 'address in use' },
  q: { type: 'quit-requested' },
  d: { type: 'drain-requested' },
  r: { type: 'restart-requested', by: 'POST /restart' },
};
const changes: Record<string, SourceChange> = {
  c: { type: 'changed', path: '/etc/cert-chain.pem' },
  w: { type: 'watch-failed', path: '/etc/key.pem', reason: 'EACCES' },
};
/** The log lines besides those of transitions. `e` is logged at the end. */
const lines: Record<string, LogLine> = {
  c: {
    level: 'debug',
    event: 'config.change_seen',
    msg: 'change seen: all sources are read after the window',
    component: 'watcher',
    path: '/etc/cert-chain.pem',
    delayMs: 10_000,
  },
  s: {
    level: 'debug',
    event: 'config.unchanged',
    msg: 'the configuration is the same as before',
    component: 'watcher',
    effect: 'nothing',
  },
  w: {
    level: 'warn',
    event: 'config.watch_failed',
    msg: 'a file cannot be watched: the agent tries again',
    component: 'watcher',
    path: '/etc/key.pem',
    reason: 'EACCES',
  },
};
const ends = (
  counters: Partial<Timeline['counters']>,
  code = 0,
  anchor = '',
  reason = '',
): LogLine => ({
  ...{ level: 'info', event: 'agent.ended', msg: 'the agent ends', code },
  ...(reason !== '' && { reason }),
  ...(anchor !== '' && { see: `docs/troubleshooting.md#${anchor}` }),
  ...{
    changes: 0,
    windows: 1,
    restarts: 0,
    refusals: 0,
    crashes: 0,
    rescues: 0,
    drains: 0,
    ...counters,
  },
});

const servers: Record<string, ServersSign> = {
  b: { type: 'servers-listening' },
  f: { type: 'servers-failed', exit: 'unavailable', reason: 'the socket is in use' },
};

/** The surroundings of the agent, in marbles. A part that is left out does nothing. */
interface Surroundings {
  readonly config?: Partial<AgentConfig>;
  readonly script?: Script;
  /** The events of the status port. It listens from the start if this is left out. */
  readonly status$?: Observable<StatusEvent>;
  /** The signs of the servers beside Envoy. They listen from the start if this is left out. */
  readonly servers$?: Observable<ServersSign>;
  readonly signals?: Partial<Record<NodeJS.Signals, Observable<unknown>>>;
  readonly terminal?: boolean;
  /** The errors that no code catches. */
  readonly uncaught$?: Observable<unknown>;
  readonly missing$?: Observable<readonly string[]>;
  readonly adopted?: readonly AdoptedEpoch[];
  /** The changes of the files. */
  readonly changes$?: Observable<SourceChange>;
  /** The configuration from which Envoy is started, besides the files. */
  readonly shape$?: Observable<SourceReading<ShapedConfig>>;
  /** The version that each Envoy reports once it is LIVE. */
  readonly versions?: readonly string[];
  /** The hashes of the files, as `readings` returns them. */
  readonly hash$?: Observable<string>;
}

/** Returns Envoy's answer to a request for its version; no answer if `version` is left out. */
function serverInfo(version: string | undefined): ReturnType<AdminClient['request']> {
  return version === undefined
    ? NEVER
    : of({
        ok: true,
        value: { status: 200, body: `{"version": "abc/${version}/Clean/RELEASE/BoringSSL"}` },
      });
}

/**
 * Draws `runAgent` with all its surroundings. The window is 10 s, and the minimum of the drain 5 s.
 * There is one process unless the script has others.
 */
function drawRun(m: RunHelpers, around: Surroundings) {
  const fake = fakeProxy(m, around.script ?? { processes: ['-'] });
  const lines$ = new ReplaySubject<LogLine>(Infinity);
  const changed$ = new ReplaySubject<string>(Infinity);
  const views$ = new ReplaySubject<RunView>(Infinity);
  const versions = [...(around.versions ?? [])];
  const watched: (readonly string[])[] = [];
  const served: number[] = [];
  const config = {
    ...configOf(),
    ...{
      statusPort: 15_020,
      minDelay: 10_000,
      drainMinimum: 5_000,
      drainCap: 20_000,
      parentShutdownDuration: 60_000,
    },
    ...{
      watched: [],
      customConfigFile: '',
      awaited: [],
      certificates: [],
      keepEnvoy: false,
      ...around.config,
    },
  };
  const shaped: ShapedConfig = {
    epoch: { kind: 'given', path: '/envoy.json', override: '' },
    validConfig: undefined,
    warnings: [],
  };
  const steps$ = runAgent(
    config,
    {
      proxy: fake.proxy,
      adopted: around.adopted ?? [],
      admin: {
        request: (_, path) => (path === '/server_info' ? serverInfo(versions.shift()) : NEVER),
        open: () => NEVER,
        located: () => false,
      },
      shape: {
        changes$: NEVER,
        reading$: around.shape$ ?? of({ hash: 'shape', config: shaped, parts: () => [] }),
      },
      startConfig: { config, sources: {} as Sources },
      terminal: around.terminal ?? false,
      servers$: () =>
        around.servers$ ?? concat(of<ServersSign>({ type: 'servers-listening' }), NEVER),
      startedAt: 0,
      ...shown,
    },
    {
      files: (paths) => {
        watched.push(paths);
        return drawnSource(
          { changes$: around.changes$ ?? NEVER, hash$: around.hash$ ?? of('a') },
          'files',
        );
      },
      requests: () => NEVER,
      uncaught: () => around.uncaught$ ?? NEVER,
      random: () => 0.5,
      missing: () => around.missing$ ?? EMPTY,
      signals: (names) =>
        merge(
          NEVER,
          ...names.map((name) => (around.signals?.[name] ?? NEVER).pipe(map(() => name))),
        ),
      serve: ({ statusPort }, view$) => {
        const heard$ = view$.pipe(
          tap((view) => views$.next(view)),
          ignoreElements(),
        );
        return defer(() => {
          served.push(statusPort);
          return merge(
            heard$,
            around.status$ ?? concat(of<StatusEvent>({ type: 'listening' }), NEVER),
          );
        });
      },
    },
  ).pipe(
    tap((step) => {
      const { sign } = step.value;
      const transition = sign.type === 'transition' ? sign.transition : undefined;
      for (const line of step.state.lines.slice(
        transition && narrate(transition, step.state.past.epochs, 10).length,
      ))
        lines$.next(line);
      if (transition?.event.type !== 'config-changed') return;
      changed$.next(
        transition.event.reading.changed.map(({ source, part }) => `${source} ${part}`).join(),
      );
    }),
    share(),
  );
  const life$ = steps$.pipe(
    concatMap(({ value: { sign } }) => (sign.type === 'transition' ? [sign.transition] : [])),
  );
  return {
    ...fake,
    watched,
    served,
    life$,
    /** The epoch that serves; the reason of the failure if the run ended without an agent. */
    serving$: merge(
      serving(life$.pipe(map(({ state }) => state))),
      steps$.pipe(
        concatMap(({ value: { sign } }) =>
          sign.type === 'failed' || sign.type === 'servers-failed' ? [sign.reason] : [],
        ),
      ),
    ),
    /** The origin of each request to restart, to end or to leave. */
    by$: life$.pipe(concatMap(({ event }) => ('by' in event ? [event.by] : []))),
    epochs$: fake.launched$.pipe(map(({ epoch }) => String(epoch))),
    /** The differences between the readings from which epochs are started. */
    changed$: changed$.asObservable(),
    /** The log lines besides those of transitions. */
    told$: lines$.asObservable(),
    /** The views that the status port receives. */
    heard: {
      serving$: serving(views$.pipe(map(({ agent }) => agent))),
      pasts$: views$.pipe(map(({ past }) => past)),
      families$: views$.pipe(
        map(({ families }) => families.size),
        distinctUntilChanged(),
      ),
      failures$: views$.pipe(
        map(({ failures }) =>
          Object.entries(failures)
            .flatMap(([part, count]) => (count > 0 ? [`${part} ${count}`] : []))
            .join(),
        ),
        distinctUntilChanged(),
      ),
      broken$: views$.pipe(
        map(({ isBroken }) => isBroken),
        distinctUntilChanged(),
      ),
    },
  };
}

describe('the first epoch', () => {
  it(
    'is started when the status port listens, and then the servers beside Envoy do',
    marbles((m) => {
      const status$ = m.hot('1s l', statusEvents);
      const servers$ = m.cold('500ms b', servers);
      const hash$ = m.cold('(a|)');
      const sigterm$ = m.hot('-');
      const unsub = at({ '0s': '^', '3s': '!' });
      const run = drawRun(m, { status$, servers$, hash$, signals: { SIGTERM: sigterm$ } });
      play(m, run, {
        unsub,
        serving: at({ '1.5s': 'n', '2s': '0' }),
        epochs: at({ '1.5s': '0' }),
      });
      m.expectSubscriptions(status$.subscriptions).toBe(unsub);
      m.expectSubscriptions(servers$.subscriptions).toBe(at({ '1s': '^', '3s': '!' }));
      m.expectSubscriptions(hash$.subscriptions).toBe(at({ '1.5s': '^!' }));
      m.expectSubscriptions(sigterm$.subscriptions).toBe(at({ '1.5s': '^', '3s': '!' }));
    }),
  );

  it(
    'is started at once if the number of the status port is 0',
    marbles((m) => {
      const run = drawRun(m, { config: { statusPort: 0 } });
      m.expectObservable(run.serving$, '^ 2s !').toBe(at({ '0s': 'n', '500ms': '0' }));
      m.flush();
      expect(run.served).toEqual([0]);
    }),
  );

  it(
    'has no second life when the status port breaks, and listens again',
    marbles((m) => {
      const status$ = m.cold('1s l 4s #', statusEvents);
      const servers$ = m.cold('b', servers);
      const unsub = '^ 20s !';
      const run = drawRun(m, { status$, servers$ });
      m.expectObservable(run.serving$, unsub).toBe(at({ '1s': 'n', '1.5s': '0' }));
      m.expectSubscriptions(servers$.subscriptions).toBe('1s ^ 19s !');
      // 200 ms after the first failure, 400 ms after the second
      m.expectSubscriptions(status$.subscriptions).toBe([
        '^ 5s !',
        '5201ms ^ 5s !',
        '10602ms ^ 5s !',
        '16403ms ^ 3597ms !',
      ]);
    }),
  );

  it(
    'is started from files that were waited for',
    marbles((m) => {
      const missing$ = m.cold(at({ '0s': 'm', '2s': 'n|' }), { m: ['key.pem'], n: [] });
      const hash$ = m.cold('(a|)');
      const run = drawRun(m, { missing$, hash$ });
      m.expectObservable(run.serving$, '^ 4s !').toBe(at({ '0s': 'n', '2.5s': '0' }));
      m.expectSubscriptions(hash$.subscriptions).toBe('2s (^!)');
    }),
  );

  it(
    'is the child of an Envoy that was kept, which is taken over first',
    marbles((m) => {
      const adopted = [{ epoch: 0, restartEpoch: 4, lineage: 0, pid: 4711 }];
      const run = drawRun(m, { adopted, script: { processes: ['-', '-'], health: ['l'] } });
      play(m, run, {
        unsub: '^ 4s !',
        serving: at({ '0s': '0', '500ms': '1' }),
        epochs: '(01)',
      });
    }),
  );
});

describe('an epoch', () => {
  it(
    'is made with the facts of the newest reading, which are not a reason to make one',
    marbles((m) => {
      const facts = (path: string): SourceReading<ShapedConfig> => ({
        hash: 'shape',
        config: {
          epoch: { kind: 'given', path, override: '' },
          validConfig: undefined,
          warnings: [],
        },
        parts: () => [],
      });
      const paths = ['/start', '/minute', '/ahead', '/change'];
      let next = 0;
      const shape$ = defer(() => of(facts(paths[next++] ?? '/late')));
      const hash$ = readings('aabb'); // each change is read ahead too
      const changes$ = m.hot(at({ '100s': 'c' }), changes);
      // The shape is read again after 60 s and the window. The first Envoy crashes after that.
      const run = drawRun(m, {
        shape$,
        hash$,
        changes$,
        script: { processes: [at({ '80s': 'k' }), '-', '-'] },
      });
      const paths$ = run.launched$.pipe(
        map((launch) =>
          launch.adopted ? '' : (launch.reading.config as { readonly path: string }).path,
        ),
      );
      play(m, run, {
        unsub: '^ 120s !',
        serving: at({ '0s': 'n', '500ms': '0', '80s': 'n', '80.7s': '1', '110.5s': '2' }),
      });
      m.expectObservable(paths$).toBe(at({ '0s': 's', '80.2s': 'm', '110s': 'c' }), {
        s: '/start',
        m: '/minute',
        c: '/change',
      });
    }),
  );
});

describe('the release of Envoy', () => {
  const warned = (version: string): LogLine => ({
    ...{
      level: 'warn',
      event: 'envoy.unsupported',
      msg: 'the agent is not made for this release of Envoy: use one of 1.36 to 1.40',
    },
    ...{ version, path: shown.identity.binary },
  });
  const restarted = at({ '0s': 'l', '90s': 'r', '180s': 'r' });
  // The third one waits 60 s for the first one, which drains.
  const serving = at({ '0s': 'n', '500ms': '0', '90.5s': '1', '240.5s': '2' });
  const draw = (m: RunHelpers, versions: readonly string[]) =>
    drawRun(m, {
      status$: m.hot(restarted, statusEvents),
      versions,
      script: { processes: ['-', '-', '-'] },
    });

  it(
    'is told of once if it is out of the range, and again if another one is',
    marbles((m) => {
      play(m, draw(m, ['1.35.9', '1.35.9', '1.41.0-dev']), {
        unsub: '^ 300s !',
        serving,
        told: [
          at({ '500ms': 'o', '240.5s': 'n' }),
          { o: warned('1.35.9'), n: warned('1.41.0-dev') },
        ],
      });
    }),
  );

  it(
    'is not told of within the range',
    marbles((m) => {
      play(m, draw(m, ['1.36.0', '1.40.9', '1.38.2']), { unsub: '^ 300s !', serving, told: '' });
    }),
  );
});

describe('a status port that is not to be had', () => {
  it(
    'ends the run, and nothing is started',
    marbles((m) => {
      const status$ = m.hot('1s f', statusEvents);
      const servers$ = m.cold('b', servers);
      const run = drawRun(m, { status$, servers$ });
      play(m, run, {
        serving: ['1s (f|)', { f: 'address in use' }],
        told: '',
      });
      m.expectSubscriptions(status$.subscriptions).toBe(at({ '0s': '^', '1s': '!' }));
      m.expectSubscriptions(servers$.subscriptions).toBe([]);
    }),
  );
});

describe('servers beside Envoy that cannot listen', () => {
  it(
    'end the run, and nothing is started',
    marbles((m) => {
      const status$ = m.hot('1s l', statusEvents);
      const servers$ = m.cold('500ms f', servers);
      const run = drawRun(m, { status$, servers$ });
      play(m, run, {
        serving: [at({ '1.5s': 'f|' }), { f: 'the socket is in use' }],
        epochs: '',
      });
      m.expectSubscriptions(status$.subscriptions).toBe(at({ '0s': '^', '1.5s': '!' }));
    }),
  );
});

describe('a change', () => {
  it(
    'goes with the reading that it makes: which source, and which part of it',
    marbles((m) => {
      const changes$ = m.hot('20s c', changes);
      const run = drawRun(m, {
        changes$,
        hash$: readings('ab'),
        script: { processes: ['-', '-'] },
      });
      m.expectObservable(run.life$.pipe(ignoreElements()), '^ 40s !').toBe('-');
      m.expectObservable(run.changed$).toBe(at({ '0s': 'n', '30s': 'f' }), { n: '', f: 'files ' });
    }),
  );

  it(
    'is checked ahead at the first pause of its window, of 500 ms, and once more when that closes',
    marbles((m) => {
      const changes$ = m.hot(at({ '20s': 'c', '20.2s': 'c', '25s': 'c' }), changes);
      const run = drawRun(m, {
        changes$,
        hash$: readings('abb'),
        script: { processes: ['-', '-'] },
      });
      play(m, run, {
        unsub: '^ 40s !',
        epochs: at({ '0s': '0', '30s': '1' }),
        checked: at({ '20.7s': 'a', '30s': 'c' }),
      });
      m.expectObservable(run.life$.pipe(ignoreElements()), '^ 40s !').toBe('-');
    }),
  );

  it(
    'is told, and after the window there is a new epoch; more of them in the window change nothing',
    marbles((m) => {
      const changes$ = m.hot(at({ '20s': 'c', '21s': 'c', '29.999s': 'c', '58s': 'c' }), changes);
      const hash$ = readings('abbcc');
      const script = { processes: ['55s c', '-', '-'] };
      const run = drawRun(m, {
        changes$,
        hash$,
        script,
        config: { parentShutdownDuration: 20_000 },
      });
      play(m, run, {
        unsub: '^ 70s !',
        serving: at({ '0s': 'n', '500ms': '0', '30.5s': '1', '68.5s': '2' }),
        epochs: at({ '0s': '0', '30s': '1', '68s': '2' }),
        // 10 s after the first change
        told: [at({ '20s': 'c', '58s': 'c' }), lines],
      });
    }),
  );

  it(
    'after which the files say what they said is told so; a reading that nobody asked for, or by hand, is not',
    marbles((m) => {
      const changes$ = m.hot('20s c', changes);
      const status$ = m.hot(at({ '0s': 'l', '90s': 'r' }), statusEvents);
      const run = drawRun(m, { changes$, status$, script: { processes: ['-', '-'] } });
      play(m, run, {
        unsub: '^ 200s !',
        serving: at({ '0s': 'n', '500ms': '0', '90.5s': '1' }),
        told: [at({ '20s': 'c', '30s': 's' }), lines],
        epochs: at({ '0s': '0', '90s': '1' }),
      });
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
    'waits for an older Envoy that drains for as long as Envoy is told',
    marbles((m) => {
      const changes$ = m.hot(at({ '20s': 'c', '22s': 'c' }), changes);
      const hash$ = readings('abbcc');
      // after 1 s, then after 2 s
      const epochs = at({ '0s': '0', '21s': '1', '25s': '2' });
      const config = { minDelay: 1_000, parentShutdownDuration: 2_000 };
      const run = drawRun(m, { changes$, hash$, config, script: { processes: ['-', '-', '-'] } });
      m.expectObservable(run.life$.pipe(ignoreElements()), '^ 40s !').toBe('-');
      m.expectObservable(run.epochs$).toBe(epochs);
    }),
  );

  it(
    'is looked for in the files that are to be watched and in the custom configuration',
    marbles((m) => {
      const { watched, life$ } = drawRun(m, {
        config: { watched: ['certs/key.pem', ''], customConfigFile: 'envoy.json' },
      });
      m.expectObservable(life$.pipe(ignoreElements()), '^!').toBe('-');
      m.flush();
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
      const signal$ = m.hot('10s s');
      const run = drawRun(m, { signals: { [name]: signal$ }, terminal });
      play(m, run, {
        // 5 s of draining
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'D', '15s': 'A|' }),
        by: [at({ '10s': 'b', '15s': '|' }), { b: name }],
        drained: [at({ '10s': 'g', '15s': 'p' }), { g: 'g0', p: 'p0' }],
        signalled: '15s T',
      });
      m.expectSubscriptions(signal$.subscriptions).toBe(at({ '0s': '^', '15s': '!' }));
    })(),
  );

  it.each(asks)(
    '$name ends the agent at once and leaves Envoy alone with --keepEnvoy',
    ({ name, terminal }) =>
      marbles((m) => {
        const signal$ = m.hot('10s s');
        const run = drawRun(m, {
          signals: { [name]: signal$ },
          terminal,
          config: { keepEnvoy: true },
        });
        play(m, run, {
          serving: at({ '0s': 'n', '500ms': '0', '10s': 'A|' }),
          drained: '',
          signalled: '',
        });
      })(),
  );

  it(
    'SIGTERM waits for what is in flight until the cap that is configured',
    marbles((m) => {
      const signal$ = m.hot('10s s');
      const serving = at({ '0s': 'n', '500ms': '0', '10s': 'D', '18s': 'A|' });
      const script = { processes: ['-'], active: ['3'] };
      const run = drawRun(m, {
        signals: { SIGTERM: signal$ },
        script,
        config: { drainCap: 8_000 },
      });
      m.expectObservable(run.serving$).toBe(serving);
    }),
  );

  it.each([false, true])('SIGHUP off a terminal restarts, with --keepEnvoy %s', (keepEnvoy) =>
    marbles((m) => {
      const signal$ = m.hot('10s s');
      const run = drawRun(m, {
        signals: { SIGHUP: signal$ },
        script: { processes: ['-', '-'] },
        config: { keepEnvoy },
      });
      play(m, run, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '500ms': '0', '10.5s': '1' }),
        told: '',
      });
      m.expectSubscriptions(signal$.subscriptions).toBe('^ 20s !');
    })(),
  );

  it(
    'SIGUSR1 has Envoy open its log files anew',
    marbles((m) => {
      const signal$ = m.hot('10s s');
      const run = drawRun(m, { signals: { SIGUSR1: signal$ } });
      play(m, run, {
        unsub: '^ 20s !',
        serving: at({ '0s': 'n', '500ms': '0' }),
        signalled: '10s U',
      });
    }),
  );
});

describe('a request at the status port', () => {
  it.each([false, true])(
    'to quit asks Envoy to drain, then the agent ends, with --keepEnvoy %s',
    (keepEnvoy) =>
      marbles((m) => {
        const status$ = m.hot(at({ '0s': 'l', '10s': 'q' }), statusEvents);
        const run = drawRun(m, { status$, config: { keepEnvoy } });
        play(m, run, {
          serving: at({ '0s': 'n', '500ms': '0', '10s': 'D', '15s': 'A|' }),
          by: [at({ '10s': 'b', '15s': '|' }), { b: '/quitquitquit' }],
          drained: [at({ '10s': 'g', '15s': 'p' }), { g: 'g0', p: 'p0' }],
        });
      })(),
  );

  it(
    'to drain tells Envoy, and the agent goes on',
    marbles((m) => {
      const status$ = m.hot(at({ '0s': 'l', '10s': 'd' }), statusEvents);
      const run = drawRun(m, { status$ });
      play(m, run, {
        unsub: '^ 60s !',
        serving: at({ '0s': 'n', '500ms': '0', '10s': 'D' }),
        drained: ['10s g', { g: 'g0' }],
      });
    }),
  );

  it(
    'to restart reads the files and starts an epoch, whatever they say',
    marbles((m) => {
      const status$ = m.hot(at({ '0s': 'l', '10s': 'r' }), statusEvents);
      const hash$ = m.cold('1s (a|)');
      const read = [at({ '0s': '^', '1s': '!' }), at({ '10s': '^', '11s': '!' })];
      const run = drawRun(m, { status$, hash$, script: { processes: ['-', '-'] } });
      m.expectObservable(run.serving$, '^ 20s !').toBe(
        at({ '1s': 'n', '1.5s': '0', '11.5s': '1' }),
      );
      m.expectSubscriptions(hash$.subscriptions).toBe(read);
    }),
  );
});

describe('the status port', () => {
  it(
    'is told at once what holds, then each state, and what has happened up to it',
    marbles((m) => {
      const changes$ = m.hot('2s c', changes);
      const servers$ = m.hot<ServersSign>('1s (bf)', {
        b: { type: 'servers-listening' },
        f: {
          type: 'servers-measured',
          server: 'secrets',
          families: () => [{ name: 'beside', type: 'gauge', help: '', samples: [] }],
        },
      });
      const hash$ = m.cold('500ms (a|)');
      const run = drawRun(m, { changes$, servers$, hash$, script: { processes: ['S'] } });
      const pasts$ = run.heard.pasts$.pipe(
        map(({ counters, epochs }) =>
          [counters.changes, counters.windows, Math.floor(epochs.at(-1)?.liveAt ?? 0)].join(' '),
        ),
        distinctUntilChanged(),
      );
      m.expectObservable(run.life$.pipe(ignoreElements()), '^ 5s !').toBe('-');
      m.expectObservable(run.heard.serving$).toBe(at({ '0s': 'n', '2s': '0' }));
      m.expectObservable(run.heard.families$).toBe(at({ '0s': '0', '1s': '1' }), { 0: 0, 1: 1 });
      m.expectObservable(pasts$).toBe(at({ '0s': 'a', '1.5s': 'b', '2s': 'cd' }), {
        a: '0 0 0',
        b: '0 1 0',
        c: '1 1 0',
        d: '1 1 2000',
      });
    }),
  );
});

describe('what goes wrong with the status port', () => {
  it(
    'in a request is told, and the agent goes on',
    marbles((m) => {
      const status$ = m.hot(at({ '0s': 'l', '20s': 'e' }), {
        ...statusEvents,
        e: { type: 'request-failed' as const, path: '/drain', reason: 'no' },
      });
      const run = drawRun(m, { status$ });
      play(m, run, {
        unsub: '^ 30s !',
        serving: at({ '0s': 'n', '500ms': '0' }),
        told: [
          at({ '20s': 'e' }),
          {
            e: {
              level: 'error',
              event: 'status.request_failed',
              msg: 'a request could not be answered',
              component: 'status',
              path: '/drain',
              reason: 'no',
            },
          },
        ],
      });
    }),
  );
});

describe('a warning about the configuration', () => {
  it(
    'is told once',
    marbles((m) => {
      const changes$ = m.hot('20s c', changes);
      const config: ShapedConfig = {
        epoch: { kind: 'given', path: '/envoy.json', override: '' },
        validConfig: undefined,
        warnings: ['no labels'],
      };
      const shape$ = m.cold('(s|)', { s: { hash: 'shape', config, parts: () => [] } });
      const run = drawRun(m, { changes$, shape$ });
      play(m, run, {
        unsub: '^ 40s !',
        serving: at({ '0s': 'n', '500ms': '0' }),
        told: [
          at({ '0s': 'w', '20s': 'c', '30s': 's' }),
          {
            ...lines,
            w: {
              level: 'warn',
              event: 'config.warning',
              msg: 'configuration warning',
              component: 'watcher',
              warning: 'no labels',
            },
          },
        ],
      });
    }),
  );
});

describe('the end', () => {
  it(
    'comes with the last Envoy if the policy is exit, and its counters, the last transition in them, are told last',
    marbles((m) => {
      const changes$ = m.hot(at({ '2s': 'c', '3s': 'c' }), changes);
      const status$ = m.hot('l', statusEvents);
      const script = { processes: ['5s x'] };
      const run = drawRun(m, { changes$, status$, script, config: { envoyRestartPolicy: 'exit' } });
      play(m, run, {
        serving: at({ '0s': 'n', '500ms': '0', '5s': 'E|' }),
        told: [
          at({ '2s': 'c', '5s': 'e' }),
          { ...lines, e: ends({ changes: 2, crashes: 1 }, 3, 'exit-other', 'Envoy ended with 3') },
        ],
      });
      m.expectSubscriptions(status$.subscriptions).toBe(at({ '0s': '^', '5s': '!' }));
      m.expectSubscriptions(changes$.subscriptions).toBe(at({ '0s': '^', '5s': '!' }));
    }),
  );

  it(
    'comes when the restart budget is spent',
    marbles((m) => {
      const script = { processes: ['1s k', '1s k'] };
      const run = drawRun(m, { script, config: { envoyRestartBudget: 1 } });
      play(m, run, {
        serving: at({ '0s': 'n', '500ms': '0', '1s': 'n', '1.7s': '1', '2.2s': 'E|' }),
        told: [
          at({ '2.2s': 'e' }),
          { e: ends({ crashes: 2, restarts: 1 }, 137, 'exit-other', 'Envoy was ended by SIGKILL') },
        ],
      });
    }),
  );

  it(
    'of the subscription ends all others, and nothing is told',
    marbles((m) => {
      const unsub = at({ '0s': '^', '5s': '!' });
      const hots = {
        SIGTERM: m.hot('-'),
        SIGINT: m.hot('-'),
        SIGHUP: m.hot('-'),
        SIGUSR1: m.hot('-'),
      };
      const changes$ = m.hot('-', changes);
      const status$ = m.hot('l', statusEvents);
      const servers$ = m.hot('b', servers);
      const run = drawRun(m, { changes$, status$, servers$, signals: hots });
      play(m, run, {
        unsub,
        serving: at({ '0s': 'n', '500ms': '0' }),
        told: '',
        lives: { 0: unsub },
      });
      for (const { subscriptions } of [changes$, status$, servers$, ...Object.values(hots)])
        m.expectSubscriptions(subscriptions).toBe(unsub);
    }),
  );
});

describe('a part that fails', () => {
  const failed = (part: string, delayMs: number): LogLine => ({
    ...{
      level: 'error',
      event: 'part.failed',
      msg: 'a part of the agent failed, and is started again',
    },
    ...{ part, reason: 'error', stack: undefined, delayMs },
  });

  it(
    'is told, counted, and started again after 200 ms: the status port',
    marbles((m) => {
      const status$ = m.cold('l 9999ms #', statusEvents);
      const run = drawRun(m, { status$ });
      const unsub = '^ 15s !';
      m.expectObservable(run.serving$, unsub).toBe(at({ '0s': 'n', '500ms': '0' }));
      m.expectObservable(run.told$).toBe('10s f', { f: failed('status', 200) });
      // the status port receives this when it listens again
      m.expectObservable(run.heard.failures$).toBe(at({ '0s': 'n', '10.2s': 's' }), {
        n: '',
        s: 'status 1',
      });
      m.expectSubscriptions(status$.subscriptions).toBe([
        at({ '0s': '^', '10s': '!' }),
        at({ '10.2s': '^', '15.001s': '!' }),
      ]);
    }),
  );

  it(
    'that cannot listen again is tried again, and the run goes on',
    marbles((m) => {
      const lives = [
        m.cold('l 999ms #', statusEvents),
        m.cold('f', statusEvents),
        m.cold('l', statusEvents),
      ];
      const status$ = defer(() => lives.shift() ?? NEVER);
      const run = drawRun(m, { status$ });
      m.expectObservable(run.serving$, '^ 5s !').toBe(at({ '0s': 'n', '500ms': '0' }));
      m.expectObservable(run.told$).toBe(at({ '1s': 'a', '1.2s': 'b' }), {
        a: failed('status', 200),
        b: {
          ...failed('status', 400),
          reason: 'address in use',
          stack: expect.any(String) as string,
        },
      });
    }),
  );

  it(
    'is the watching of files: they are read again, and what they say as before makes no epoch',
    marbles((m) => {
      const watches = [
        m.cold<SourceChange>('10s #'),
        m.cold<SourceChange>('r 4999ms c', { ...changes, r: { type: 'ready' } }),
      ];
      const changes$ = defer(() => watches.shift() ?? NEVER);
      const hash$ = readings('aab');
      const run = drawRun(m, { changes$, hash$, script: { processes: ['-', '-'] } });
      // The sources are read again after 200 ms. A change follows 5 s later, and then its window.
      m.expectObservable(run.epochs$.pipe(), '^ 40s !').toBe(at({ '0s': '0', '25.2s': '1' }));
      m.expectObservable(run.serving$, '^ 40s !').toBe(
        at({ '0s': 'n', '500ms': '0', '25.7s': '1' }),
      );
      m.expectObservable(run.told$).toBe(at({ '10s': 'f', '15.2s': 'c' }), {
        ...lines,
        f: failed('sources', 200),
      });
      m.expectObservable(run.changed$).toBe(at({ '0s': 'n', '25.2s': 'c' }), {
        n: '',
        c: 'files ',
      });
    }),
  );

  it(
    'is a reading by hand, which comes all the same',
    marbles((m) => {
      const status$ = m.hot(at({ '0s': 'l', '10s': 'r' }), statusEvents);
      const readingsOf = [of('a'), m.cold('#'), of('a')];
      const hash$ = defer(() => readingsOf.shift() ?? NEVER);
      const run = drawRun(m, { status$, hash$, script: { processes: ['-', '-'] } });
      m.expectObservable(run.serving$, '^ 20s !').toBe(
        at({ '0s': 'n', '500ms': '0', '10.7s': '1' }),
      );
      m.expectObservable(run.told$).toBe('10s f', { f: failed('sources', 200) });
    }),
  );
});

describe('a bug', () => {
  const bug = (reason: string, envoy = 'drained'): LogLine => ({
    ...{ level: 'error', event: 'agent.bug', msg: 'this is a bug: the agent ends', reason, envoy },
    stack: expect.any(String) as string,
  });
  const injected = { b: new Error('injected') };

  it(
    'that nobody has caught lets the Envoy drain before it is told to end',
    marbles((m) => {
      const run = drawRun(m, { uncaught$: m.hot('10s b', injected) });
      play(m, run, {
        serving: at({ '0s': 'n', '500ms': '0', '15s': '|' }),
        told: [
          at({ '10s': 'b', '15s': 'e' }),
          { b: bug('injected'), e: ends({}, 70, 'exit-70', 'this is a bug: injected') },
        ],
        drained: [at({ '10s': 'g', '15s': 'p' }), { g: 'g0', p: 'p0' }],
        signalled: '15s T',
        lives: { 0: at({ '0s': '^', '15s': '!' }) },
      });
    }),
  );

  it(
    'is not that a connection breaks which nothing listens to: that is told, and the run goes on',
    marbles((m) => {
      const reset = Object.assign(new Error('read ECONNRESET'), {
        code: 'ECONNRESET',
        syscall: 'read',
      });
      const run = drawRun(m, { uncaught$: m.hot('10s r', { r: reset }) });
      m.expectObservable(run.serving$, '^ 15s !').toBe(at({ '0s': 'n', '500ms': '0' }));
      m.expectObservable(run.told$).toBe('10s r', {
        r: {
          ...{
            level: 'warn',
            event: 'connection.broken',
            msg: 'a connection broke, and the agent goes on',
          },
          ...{ reason: 'read ECONNRESET', stack: expect.any(String) as string },
        },
      });
    }),
  );

  it(
    'of the core does the same, and what surrounds it goes on meanwhile',
    marbles((m) => {
      // The second launch throws: the script has no process for it.
      const status$ = m.hot(at({ '0s': 'l', '10s': 'r' }), statusEvents);
      const servers$ = m.cold('b', servers);
      const run = drawRun(m, {
        status$,
        servers$,
        script: { processes: ['-'], active: [at({ '0s': '1', '22s': '0' })] },
      });
      play(m, run, {
        serving: at({ '0s': 'n', '500ms': '0', '22s': '|' }),
        told: [
          at({ '10s': 'b', '22s': 'e' }),
          {
            b: bug('the script has no process 1'),
            e: ends(
              { windows: 2, restarts: 1 },
              70,
              'exit-70',
              'this is a bug: the script has no process 1',
            ),
          },
        ],
        drained: [at({ '10s': 'g', '22s': 'p' }), { g: 'g0', p: 'p0' }],
        signalled: '22s T',
        lives: { 0: at({ '0s': '^', '22s': '!' }) },
      });
      m.expectSubscriptions(status$.subscriptions).toBe(at({ '0s': '^', '22s': '!' }));
      m.expectSubscriptions(servers$.subscriptions).toBe(at({ '0s': '^', '22s': '!' }));
      m.expectObservable(run.heard.broken$).toBe(at({ '0s': 'n', '10s': 'y' }), {
        n: false,
        y: true,
      });
    }),
  );

  it(
    'ends with the drain at its cap',
    marbles((m) => {
      const run = drawRun(m, {
        uncaught$: m.hot('10s b', injected),
        script: { processes: ['-'], active: ['1'] },
      });
      play(m, run, { serving: at({ '0s': 'n', '500ms': '0', '30s': '|' }), signalled: '30s T' });
    }),
  );

  it(
    'is the only one: what comes after it is nothing new',
    marbles((m) => {
      const uncaught$ = m.hot(at({ '10s': 'b', '11s': 'b', '12s': 'b' }), injected);
      const run = drawRun(m, { uncaught$ });
      play(m, run, {
        serving: at({ '0s': 'n', '500ms': '0', '15s': '|' }),
        told: [
          at({ '10s': 'b', '15s': 'e' }),
          { b: bug('injected'), e: ends({}, 70, 'exit-70', 'this is a bug: injected') },
        ],
      });
    }),
  );

  it(
    'before there is an Envoy ends the run at once',
    marbles((m) => {
      const run = drawRun(m, { uncaught$: m.hot('10s b', injected), servers$: NEVER });
      play(m, run, {
        serving: '10s |',
        told: [
          '10s (be)',
          { b: bug('injected'), e: ends({ windows: 0 }, 70, 'exit-70', 'this is a bug: injected') },
        ],
        epochs: '',
      });
    }),
  );

  it(
    'leaves an Envoy alone that outlives the agent',
    marbles((m) => {
      const run = drawRun(m, { uncaught$: m.hot('10s b', injected), config: { keepEnvoy: true } });
      play(m, run, {
        serving: at({ '0s': 'n', '500ms': '0', '10s': '|' }),
        told: [
          '10s (be)',
          { b: bug('injected', 'left'), e: ends({}, 70, 'exit-70', 'this is a bug: injected') },
        ],
        drained: '',
        signalled: '',
      });
    }),
  );

  it(
    'of an agent that has been asked to end takes that Envoy down too',
    marbles((m) => {
      const status$ = m.hot(at({ '0s': 'l', '9s': 'q' }), statusEvents);
      const run = drawRun(m, {
        status$,
        uncaught$: m.hot('10s b', injected),
        config: { keepEnvoy: true },
      });
      play(m, run, {
        serving: at({ '0s': 'n', '500ms': '0', '9s': 'D', '15s': '|' }),
        told: [
          at({ '10s': 'b', '15s': 'e' }),
          { b: bug('injected'), e: ends({ drains: 1 }, 70, 'exit-70', 'this is a bug: injected') },
        ],
        signalled: '15s T',
      });
    }),
  );

  it.each([
    { name: 'the first', requests: at({ '11s': 's' }), stopped: '15s', signalled: '15s T' },
    {
      name: 'the second',
      requests: at({ '11s': 's', '12s': 's' }),
      stopped: '12s',
      signalled: '12s T',
    },
    {
      name: 'the second, the first before it',
      requests: at({ '9s': 's', '11s': 's' }),
      stopped: '11s',
      signalled: '11s T',
    },
  ] as const)('hears a request to end as ever: $name', ({ requests, stopped, signalled }) =>
    marbles((m) => {
      const run = drawRun(m, {
        uncaught$: m.hot('10s b', injected),
        signals: { SIGTERM: m.hot(requests) },
      });
      m.expectObservable(run.heard.broken$).toBe(at({ '0s': 'n', '10s': 'y' }), {
        n: false,
        y: true,
      });
      m.expectObservable(run.life$.pipe(ignoreElements())).toBe(at({ [stopped]: '|' }));
      m.expectObservable(run.signalled$).toBe(signalled);
    })(),
  );
});
