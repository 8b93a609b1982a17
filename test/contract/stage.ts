import {
  asyncScheduler,
  catchError,
  concat,
  defer,
  EMPTY,
  endWith,
  exhaustMap,
  filter,
  isObservable,
  map,
  type Observable,
  of,
  repeat,
  ReplaySubject,
  Subject,
  type Subscription,
  take,
  tap,
  throwError,
  timeout,
  timer,
  toArray,
} from 'rxjs';
import { expect } from 'vitest';
import type {
  Drain,
  EpochConfig,
  ProcessEvent,
  Proxy,
  Signal,
  Verdict,
  Health,
  Exit,
} from '../../src/epochs/ports.ts';
import type { Reading } from '../../src/streams/reading.ts';

/** A duration. `about`: between a third of `ms` and three times `ms`. `below`: less than `ms`. */
export interface Span {
  readonly is: 'about' | 'below';
  readonly ms: number;
}

/** The life of the processes of a proxy: until they are asked to end, or shorter. */
export type Life =
  | 'serves'
  | 'ends cleanly by itself'
  | 'is killed by somebody else'
  | 'fails for want of key.pem'
  | 'finds its port taken'
  | 'can not be started'
  | 'has no admin endpoint'
  | 'is told to end 3 s after its child is LIVE';

/**
 * A proxy and its surroundings. A method that takes time returns an Observable that completes when
 * it is done.
 */
export interface World {
  readonly proxy: Proxy;
  /** The reading from which its processes are started. */
  readonly reading: Reading<EpochConfig>;
  /** The time by which an answer may be late on a busy machine, in ms. */
  readonly slack: number;
  /** Returns the number of processes that exist. */
  alive(): number;
  /** Returns what is left of processes, whether they have ended or not. */
  remains(): readonly string[];
  /** Halts a process: it neither answers nor heeds SIGTERM. `pid` is the one that it reported. */
  freeze(epoch: number, pid: number): void;
  thaw(epoch: number, pid: number): void;
  /** Changes the files so that no process could start from them. */
  spoil(): void;
  /** Makes the newest process report that it is not LIVE. */
  sicken(): Observable<unknown>;
  /** Completes when a new client is served. */
  serves(): Observable<unknown>;
  /** Completes when a new client is turned away. */
  refuses(): Observable<unknown>;
  /** Completes when a request is in flight, which then stays so. */
  ask(): Observable<unknown>;
  /** Completes when the requests in flight have their answers. */
  answer(): Observable<unknown>;
}

/** A run of a process, with its subscription. */
interface Run {
  readonly run$: Observable<ProcessEvent>;
  readonly life: Subscription;
  readonly spawned$: Observable<number>;
  readonly over$: Observable<unknown>;
}

/** The time that an Envoy may take to come up or to end, and that a check may take, in ms. */
const timeoutMs = 60_000;
/** The time that a process may live on after it was unsubscribed from, in ms. */
const lastSecond = 1_000;

/**
 * The steps with a proxy, each as an Observable that completes when it is done, and a log of what
 * is observed meanwhile.
 */
export class Stage {
  readonly log: string[] = [];
  readonly #world: World;
  readonly #proxy: Proxy;
  readonly #runs = new Map<string, Run>();
  readonly #orders = new Map<number, Subject<Signal>>();
  readonly #times = new Map<string, readonly number[]>();

  constructor(world: World) {
    this.#world = world;
    this.#proxy = world.proxy;
  }

  launch(epoch: number, restartEpoch = epoch, signals$?: Observable<Signal>): Observable<never> {
    return step(() => this.#start(String(epoch), this.#launch(epoch, restartEpoch, signals$)));
  }

  /** Subscribes once more to the launched process. */
  again(epoch: number): Observable<never> {
    return step(() => this.#start(`${epoch} again`, this.#run(epoch).run$));
  }

  /** Calls the method, and does not subscribe. */
  unsubscribed(method: keyof Proxy): Observable<never> {
    return step(() => {
      const called$ =
        method === 'run'
          ? this.#launch(0, 0)
          : method === 'drain'
            ? this.#proxy.drain(0, 'graceful')
            : method === 'check' || method === 'checkAhead'
              ? (this.#proxy[method]?.(this.#world.reading) ?? EMPTY)
              : this.#proxy[method](0);
      expect(isObservable(called$)).toBe(true);
    });
  }

  spawned(epoch: number): Observable<unknown> {
    return this.#pid(epoch).pipe(tap(() => this.log.push(`${epoch} spawned`)));
  }

  ended(epoch: number): Observable<unknown> {
    return defer(() => this.#run(epoch).over$).pipe(take(1), timeout(timeoutMs));
  }

  /** Logs whether `done$` takes `ms`, within 250 ms and the slack of the machine. */
  takes(ms: number, done$: Observable<unknown>): Observable<unknown> {
    return defer(() => {
      const begun = asyncScheduler.now();
      const noted$ = defer(() => {
        const took = asyncScheduler.now() - begun;
        const isRight = took > ms - 250 && took < ms + 250 + this.#world.slack;
        return step(() =>
          this.log.push(isRight ? `${ms / 1_000} s` : `${took} ms instead of ${ms} ms`),
        );
      });
      return concat(done$, noted$);
    });
  }

  /** Clears the log. */
  forgotten(): Observable<never> {
    return step(() => (this.log.length = 0));
  }

  /** Sorts the log, for what two processes do at once. */
  inNoOrder(): Observable<never> {
    return step(() => this.log.sort());
  }

  /** Notes how long `done$` takes, for `timedUntilRight`. */
  timed(what: string, done$: Observable<unknown>): Observable<unknown> {
    return defer(() => {
      const begun = asyncScheduler.now();
      return concat(
        done$,
        step(() =>
          this.#times.set(what, [...(this.#times.get(what) ?? []), asyncScheduler.now() - begun]),
        ),
      );
    });
  }

  /**
   * Repeats steps that time something until the quickest time of each is right, ten times at most.
   * The quickest time counts because other work of the machine only adds time.
   */
  timedUntilRight(
    spans: Readonly<Record<string, Span>>,
    steps: () => readonly Observable<unknown>[],
  ): Observable<unknown> {
    const all = Object.entries(spans);
    const quickest = (what: string): number => Math.min(...(this.#times.get(what) ?? []));
    const isRight = ([what, span]: readonly [string, Span]): boolean =>
      span.is === 'below'
        ? quickest(what) < span.ms
        : quickest(what) > span.ms / 3 && quickest(what) < span.ms * 3;
    const round$ = defer(() => concat(...steps()));
    const reported$ = step(() => {
      for (const [what, span] of all) {
        const spanText = `${span.is} ${span.ms} ms`;
        this.log.push(
          `${what}: ${isRight([what, span]) ? spanText : `${quickest(what)} ms instead of ${spanText}`}`,
        );
      }
    });
    return concat(
      round$.pipe(repeat({ count: 10, delay: () => (all.every(isRight) ? EMPTY : of(true)) })),
      reported$,
    );
  }

  signal(epoch: number, signal: Signal): Observable<never> {
    return step(() => this.#orders.get(epoch)?.next(signal));
  }

  leave(name: number | string): Observable<never> {
    return step(() => this.#run(name).life.unsubscribe());
  }

  freeze(epoch: number): Observable<unknown> {
    return this.#pid(epoch).pipe(tap((pid) => this.#world.freeze(epoch, pid)));
  }

  thaw(epoch: number): Observable<unknown> {
    return this.#pid(epoch).pipe(tap((pid) => this.#world.thaw(epoch, pid)));
  }

  count(): Observable<never> {
    return step(() => this.log.push(`${this.#world.alive()} processes`));
  }

  /** Completes when this many processes are left; errors if that takes longer than a second. */
  left(number: number): Observable<unknown> {
    const alive$ = defer(() => of(this.#world.alive()));
    return until(alive$, number, lastSecond + this.#world.slack).pipe(
      tap(() => this.log.push(`${number} left`)),
    );
  }

  /** Unsubscribes from all runs; completes when nothing is left of them. */
  cleared(): Observable<unknown> {
    for (const { life } of this.#runs.values()) life.unsubscribe();
    const remains$ = defer(() => of(this.#world.remains().join()));
    return until(remains$, '', lastSecond + this.#world.slack);
  }

  /** Asks until the answer is `health`. */
  until(epoch: number, health: Health): Observable<unknown> {
    return until(this.#proxy.health(epoch), health, timeoutMs).pipe(
      tap(() => this.log.push(`${epoch} ${health}`)),
    );
  }

  /** Asks five times, and logs the distinct answers. */
  stays(epoch: number): Observable<unknown> {
    return concat(...Array.from({ length: 5 }, () => this.#proxy.health(epoch))).pipe(
      toArray(),
      tap((answers) => this.log.push(`${epoch} stays ${[...new Set(answers)].join(', ')}`)),
    );
  }

  untilIdle(): Observable<unknown> {
    return until(this.#proxy.active(0), 0, timeoutMs).pipe(tap(() => this.log.push('idle')));
  }

  health(epoch: number): Observable<unknown> {
    return this.#asked('health', this.#proxy.health(epoch), 1_000);
  }

  active(): Observable<unknown> {
    return this.#asked('active', this.#proxy.active(0), 1_000);
  }

  drain(how: Drain): Observable<unknown> {
    return this.#asked('drain', this.#proxy.drain(0, how), 2_000);
  }

  check(): Observable<unknown> {
    return this.#asked(
      'check',
      this.#proxy.check(this.#world.reading).pipe(map(tellVerdict)),
      timeoutMs,
    );
  }

  giveUpCheck(): Observable<never> {
    return step(() => this.#proxy.check(this.#world.reading).subscribe().unsubscribe());
  }

  spoil(): Observable<never> {
    return step(() => this.#world.spoil());
  }

  sicken(): Observable<unknown> {
    return defer(() => this.#world.sicken());
  }

  serves(): Observable<unknown> {
    return defer(() => this.#world.serves());
  }

  refuses(): Observable<unknown> {
    return defer(() => this.#world.refuses());
  }

  ask(): Observable<unknown> {
    return defer(() => this.#world.ask());
  }

  answer(): Observable<unknown> {
    return defer(() => this.#world.answer());
  }

  #launch(
    epoch: number,
    restartEpoch: number,
    signals$?: Observable<Signal>,
  ): Observable<ProcessEvent> {
    const orders$ = new Subject<Signal>();
    this.#orders.set(epoch, orders$);
    return this.#proxy.run(
      {
        adopted: false,
        epoch,
        reading: this.#world.reading,
        restartEpoch,
        lineage: 0,
        sideBySide: false,
      },
      signals$ ?? orders$,
    );
  }

  #start(name: string, run$: Observable<ProcessEvent>): void {
    const spawned$ = new ReplaySubject<number>(1);
    const over$ = new ReplaySubject<unknown>(1);
    let events = '';
    const obey = (event: string) => {
      events += `${event} `;
      if (!/^(spawned )?(exited (completed )?)?$/.test(events))
        this.log.push(`${name} broke the order: ${events}`);
    };
    const life = run$.subscribe({
      next: (event) => {
        obey(event.type);
        if (event.type === 'spawned') spawned$.next(event.pid);
        else this.log.push(`${name} exited: ${tell(event.exit)}`);
      },
      error: (error: unknown) => this.log.push(`${name} errored: ${String(error)}`),
      complete: () => {
        obey('completed');
        this.log.push(`${name} completed`);
      },
    });
    life.add(() => over$.next(undefined)); // after the teardown of the run itself
    this.#runs.set(name, { run$, life, spawned$, over$ });
  }

  #run(name: number | string): Run {
    const run = this.#runs.get(String(name));
    if (run === undefined) throw new Error(`nobody has launched ${name}`);
    return run;
  }

  #pid(epoch: number): Observable<number> {
    return defer(() => this.#run(epoch).spawned$).pipe(take(1), timeout(timeoutMs));
  }

  /** Asks once, and logs all answers that come within the time. */
  #asked(name: string, answer$: Observable<unknown>, within: number): Observable<unknown> {
    return answer$.pipe(
      map(String),
      endWith('completed'),
      catchError((error: unknown) => of(`errored: ${String(error)}`)),
      toArray(),
      map((answers) => answers.join(', ')),
      timeout({ first: within + this.#world.slack, with: () => of(`nothing within ${within} ms`) }),
      tap((answers) => this.log.push(`${name}: ${answers}`)),
    );
  }
}

function step(action: () => unknown): Observable<never> {
  return defer(() => {
    action();
    return EMPTY;
  });
}

/** Asks until the answer is `wanted`; errors with the last answer if that takes too long. */
function until<T>(answer$: Observable<T>, wanted: T, within: number): Observable<unknown> {
  let last: unknown = 'nothing';
  return timer(0, 10).pipe(
    exhaustMap(() => answer$),
    tap((answer) => (last = answer)),
    filter((answer) => answer === wanted),
    take(1),
    timeout({
      first: within,
      with: () =>
        throwError(
          () => new Error(`not ${String(wanted)} within ${within} ms, but ${String(last)}`),
        ),
    }),
  );
}

function tell(exit: Exit): string {
  if (exit.kind === 'clean') return 'clean';
  if (exit.kind === 'signaled') return `signaled ${exit.signal}`;
  if (exit.kind === 'spawn-failed')
    return `spawn-failed, ${isOneLine(exit.reason) ? 'in one line' : `in several: ${exit.reason}`}`;
  if (exit.kind === 'unknown') return exit.kind;
  const { code, tail, addressTaken } = exit;
  const address =
    addressTaken === undefined
      ? ''
      : `, address ${/^\S+:\d+$/.test(addressTaken) ? 'taken' : addressTaken}`;
  return `failed ${code}${tail.some((line) => line.includes('key.pem')) ? ', says key.pem' : ''}${address}`;
}

function tellVerdict(verdict: Verdict): string {
  if (verdict.kind !== 'refused' && verdict.kind !== 'unchecked') return 'accepted';
  return `refused ${isOneLine(verdict.reason) ? 'in one line' : `in several: ${verdict.reason}`}`;
}

function isOneLine(text: string): boolean {
  return /^\S.*$/.test(text);
}
