import { AssertionError } from 'node:assert';
import {
  asyncScheduler,
  defer,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  ReplaySubject,
  share,
  takeUntil,
  tap,
  throwError,
  timer,
  timestamp,
} from 'rxjs';
import { type RunHelpers, TestScheduler } from 'rxjs/testing';
import type { RestartPolicy } from '../epochs/exits.ts';
import type { Reading } from '../streams/reading.ts';
import type { Timing } from '../epochs/timing.ts';
import { ofType } from '../operators/tagged-union.ts';
import { compose } from '../pilot-agent/sources/compose.ts';
import type { Contribution } from '../pilot-agent/sources/contribution.ts';
import { neverResolves, source as makeSource } from '../pilot-agent/sources/source.ts';
import type { ConfigSource } from '../streams/config-source.ts';
import { sourceSigns } from '../streams/readings.ts';
import { diagramOf, type DrawnSign, signsOf } from './diagram.ts';
import type { Script } from './fake-script.ts';
import { scriptedAgent } from './scripted-agent.ts';

/** Reads the drawn content of the current time. */
type DrawnRead = () => Observable<string>;

/** The source of one diagram. */
export interface DrawnSource {
  readonly read: DrawnRead;
  readonly changed$: Observable<unknown>;
}

/** The inputs of an agent, in marbles. */
export interface Drawing extends Partial<Script> {
  /**
   * The content over time: a letter is a content, and # means that reading fails. Before the first
   * sign reading fails too.
   */
  readonly config: string;
  /**
   * Makes the source of the drawing: `read` reads the content of the current time, and `changed$`
   * emits at each sign after the first ms. If it is left out, the source reads at each sign.
   */
  readonly source?: (
    read: DrawnRead,
    changed$: Observable<unknown>,
    beside: Readonly<Record<string, DrawnSource>>,
  ) => ConfigSource;
  /**
   * Further diagrams such as `config`, by name. `source` gets each of them; if it is left out, they
   * are additional sources.
   */
  readonly beside?: Readonly<Record<string, string>>;
  /**
   * The time from the first change to the reading of all, in ms; 10,000 if left out, as
   * `--minDelay`.
   */
  readonly minDelay?: number;
  /** Any sign is a restart by hand. */
  readonly restart?: string;
  /** Any sign asks the agent to end: the second one skips the drain, the third kills. */
  readonly terminate?: string;
  readonly policy?: Partial<RestartPolicy>;
  readonly timing?: Partial<Timing>;
}

/** An agent with a scripted Envoy. Each expectation runs it from the start. */
export interface DrawnAgent {
  /**
   * Expects epochs at these times, and no others: each is drawn as the content that it was started
   * from. Throws an `AssertionError` with both diagrams.
   */
  expectEpochs(diagram: string): DrawnAgent;
  /**
   * Expects the epoch that serves: its number, or n for none; D while draining, T while stopping;
   * at the end A (asked), E (Envoy), R (refused), P (port taken) or D (port denied). Throws as
   * `expectEpochs`.
   */
  expectServing(diagram: string): DrawnAgent;
}

/** How long an agent runs after the last sign of any diagram, in ms. */
const beyond = 300_000;

/**
 * Draws an agent: the contents of its source, the behaviour of its Envoys, and then by `expect…`
 * the results. Time is virtual, but has the durations of a real run:
 * `drawAgent({ config: 'a 9s b' })` has `b` from the tenth second on, and its agent has the timing
 * of the program.
 *
 * If nothing else is drawn, an Envoy is LIVE 100 ms after its launch, and serves until it is asked
 * to end. A parent is asked to end `parentShutdown` (60 s) after its child is LIVE. Nothing runs
 * before the first expectation.
 */
export function drawAgent(drawing: Drawing): DrawnAgent {
  function expectDrawn(what: 'epochs' | 'serving', diagram: string): DrawnAgent {
    const { seen: drawnSigns, expected } = played(drawing, what, diagram);
    const [actual, drawnAs] = [diagramOf(drawnSigns), diagramOf(expected)];
    if (actual === drawnAs) return drawn;
    throw new AssertionError({
      message: `${what}: expected '${drawnAs}', but it is '${actual}'`,
      actual,
      expected: drawnAs,
    });
  }
  const drawn: DrawnAgent = {
    expectEpochs: (diagram) => expectDrawn('epochs', diagram),
    expectServing: (diagram) => expectDrawn('serving', diagram),
  };
  return drawn;
}

/** Returns the signs of the agent until long after the drawing, and the signs of `diagram`. */
function played(drawing: Drawing, what: 'epochs' | 'serving', diagram: string) {
  const { config, beside = {}, restart = '', terminate = '' } = drawing;
  const drawnSigns: DrawnSign[] = [];
  const errors: unknown[] = [];
  const expected = new TestScheduler(() => undefined).run((m) => {
    const ends = [diagram, config, ...Object.values(beside), restart, terminate].map(
      (drawn) => signsOf(drawn).at(-1)?.at ?? 0,
    );
    const { hashes$, serving$ } = agentOf(m, drawing);
    const shown$ = what === 'serving' ? serving$ : merge(hashes$, serving$.pipe(ignoreElements()));
    shown$.pipe(timestamp(), takeUntil(timer(Math.max(...ends) + beyond))).subscribe({
      next: ({ value, timestamp: time }) => drawnSigns.push({ at: Math.floor(time), sign: value }),
      error: (error: unknown) => errors.push(error),
    });
    return signsOf(diagram);
  });
  for (const error of errors) throw error as Error;
  return { seen: drawnSigns, expected };
}

function agentOf(m: RunHelpers, drawing: Drawing) {
  const {
    config,
    source,
    beside = {},
    minDelay = 10_000,
    restart = '',
    terminate = '',
    policy,
    timing,
    ...script
  } = drawing;
  const { read, changed$ } = drawnSource(config);
  const others = Object.fromEntries(
    Object.entries(beside).map(([name, diagram]) => [name, drawnSource(diagram)]),
  );
  const configSource =
    source === undefined
      ? readAtEachSign({ drawn: { read, changed$ }, ...others })
      : source(read, changed$, others);
  const orders$ = m.hot(restart).pipe(map(() => 'SIGHUP'));
  const read$ = sourceSigns(asRun(configSource), { minDelay, random: () => 0.5 }, orders$).pipe(
    tap((sign) => {
      if (sign.type === 'source-unreadable' && sign.reason === neverResolves)
        throw new Error(`source ${sign.source}: ${sign.reason}`);
    }),
    ofType('read'),
    share({ connector: () => new ReplaySubject(Infinity) }), // the first one comes early
  );
  return scriptedAgent(
    m,
    {
      hash$: read$.pipe(
        filter(({ isNew, orderedBy }) => isNew && orderedBy === undefined),
        map(contentOf),
      ),
      restart$: read$.pipe(
        filter(({ orderedBy }) => orderedBy !== undefined),
        map(contentOf),
      ),
      terminate$: m.hot(terminate).pipe(map(() => 'SIGTERM')),
    },
    {
      processes: Array.from({ length: 1_000 }, () => 'S'),
      parentShutdown: timing?.parentShutdown ?? 60_000,
      ...script,
    },
    { ...(policy !== undefined && { policy }), ...(timing !== undefined && { timing }) },
  );
}

/**
 * Changes the hashes as the agent does: content that it sets in the running Envoy, or pushes, is
 * not a reason for an epoch.
 */
function asRun({ changes$, reading$ }: ConfigSource): ConfigSource {
  const isReason = ({ use }: Contribution) => use !== 'runtime' && use !== 'secret';
  const hashOf = (config: readonly Contribution[]) =>
    config
      .filter(isReason)
      .map(({ hash }) => hash)
      .join('+');
  return {
    changes$,
    reading$: reading$.pipe(
      map((reading) =>
        Array.isArray(reading.config)
          ? { ...reading, hash: hashOf(reading.config as readonly Contribution[]) }
          : reading,
      ),
    ),
  };
}

/** Returns how a reading is drawn: by its contents, or by the hash of a source that has none. */
function contentOf({ reading: { config, hash } }: { readonly reading: Reading<unknown> }): string {
  if (!Array.isArray(config)) return hash;
  return (config as readonly Contribution[])
    .map(({ content = '-' }) => (typeof content === 'string' ? content : JSON.stringify(content)))
    .join('');
}

function drawnSource(diagram: string): DrawnSource {
  const signs = signsOf(diagram);
  const read: DrawnRead = () =>
    defer(() => {
      const sign = signs.findLast(({ at: time }) => time <= asyncScheduler.now())?.sign ?? '#';
      return sign === '#' ? throwError(() => new Error('it is drawn as unreadable')) : of(sign);
    });
  return {
    read,
    changed$: merge(...signs.flatMap(({ at: time }) => (time === 0 ? [] : [timer(time)]))),
  };
}

function readAtEachSign(drawn: Readonly<Record<string, DrawnSource>>): ConfigSource {
  return compose(
    ...Object.entries(drawn).map(([name, { read, changed$ }]) =>
      makeSource(name, read, { on$: changed$, random: () => 0.5 }),
    ),
  );
}
