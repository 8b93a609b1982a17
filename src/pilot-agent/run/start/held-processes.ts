// Why: docs/decisions/065-a-bug-does-not-kill-envoys.md
import { AsyncSubject, defer, EMPTY, Observable, of, share, Subject, tap } from 'rxjs';
import type {
  EpochConfig,
  Launch,
  ProcessEvent,
  Proxy,
  Signal,
  Verdict,
} from '../../../epochs/ports.ts';
import type { Reading } from '../../../streams/reading.ts';

/** A process that exists, or is about to. */
export interface HeldProcess {
  readonly epoch: number;
  readonly lineage: number;
  /** What becomes of it from now on; completes after its exit. */
  readonly life$: Observable<ProcessEvent>;
  readonly send: (signal: Signal) => void;
}

export interface HeldProcesses {
  /**
   * As the proxy that is held, but a process lives on when its run is unsubscribed, or what sends
   * it signals errors, until `release`.
   */
  readonly proxy: Proxy;
  /** The oldest first. */
  readonly living: () => readonly HeldProcess[];
  /** From now on, and for those that are left, unsubscribing a run ends it. */
  readonly release: () => void;
}

/**
 * Holds the processes of a proxy, so that they are still there when the core that has started them
 * is not.
 */
export function holdProcesses(proxy: Proxy): HeldProcesses {
  const living = new Set<HeldProcess>();
  const released$ = new AsyncSubject<void>();

  function hold(
    { epoch, lineage }: Launch,
    start$: (orders$: Observable<Signal>) => Observable<ProcessEvent>,
  ): HeldProcess {
    const orders$ = new Subject<Signal>();
    const gone = () => living.delete(own);
    const life$ = start$(orders$).pipe(
      tap({ error: gone, complete: gone, unsubscribe: gone }), // before anybody hears of it
      // Or who asks after its end would start another.
      share({ resetOnError: false, resetOnComplete: false, resetOnRefCountZero: () => released$ }),
    );
    const own: HeldProcess = { epoch, lineage, life$, send: (signal) => orders$.next(signal) };
    living.add(own);
    return own;
  }

  return {
    proxy: {
      run: (launch, signals$) =>
        defer(() => {
          const isRefused = !launch.adopted && launch.reading.config.kind === 'refused';
          const { life$, send } = hold(launch, (orders$) =>
            isRefused ? of(notRun) : proxy.run(launch, orders$),
          );
          return new Observable<ProcessEvent>((subscriber) => {
            subscriber.add(
              signals$.subscribe({
                next: send,
                error: (error: unknown) => subscriber.error(error),
              }),
            );
            subscriber.add(life$.subscribe(subscriber));
          });
        }),
      health: (epoch) => proxy.health(epoch),
      publishAdmin: (epoch) => proxy.publishAdmin(epoch),
      check: (reading) => refusalOf(reading) ?? proxy.check(reading),
      checkAhead: (reading) => proxy.checkAhead?.(reading) ?? EMPTY,
      drain: (epoch, how) => proxy.drain(epoch, how),
      active: (epoch) => proxy.active(epoch),
    },
    living: () => [...living],
    release: () => {
      released$.next();
      released$.complete();
    },
  };
}

/** How a process of a refused reading ends: at once. The check, which follows, tells the reason. */
const notRun: ProcessEvent = { type: 'exited', exit: { kind: 'failed', code: 1, tail: [] } };

/** The verdict on a reading that is refused before a proxy sees it; undefined if none is. */
function refusalOf({ config }: Reading<EpochConfig>): Observable<Verdict> | undefined {
  return config.kind === 'refused' ? of({ kind: 'refused', reason: config.reason }) : undefined;
}
