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
export interface LivingProcess {
  readonly epoch: number;
  readonly lineage: number;
  /** Emits the further events of the process; completes after its exit. */
  readonly life$: Observable<ProcessEvent>;
  readonly send: (signal: Signal) => void;
}

export interface ProcessKeeper {
  /**
   * Behaves as the wrapped proxy, with one exception: until `release`, a process lives on if its
   * run is unsubscribed, or if its stream of signals errors.
   */
  readonly proxy: Proxy;
  /** The living processes, oldest first. */
  readonly living: () => readonly LivingProcess[];
  /**
   * From now on, unsubscribing a run ends its process. Processes that are already unsubscribed end
   * now.
   */
  readonly release: () => void;
}

/** Keeps the processes of a proxy alive, so that they survive the core that started them. */
export function keepProcesses(proxy: Proxy): ProcessKeeper {
  const living = new Set<LivingProcess>();
  const released$ = new AsyncSubject<void>();

  function hold(
    { epoch, lineage }: Launch,
    start$: (orders$: Observable<Signal>) => Observable<ProcessEvent>,
  ): LivingProcess {
    const orders$ = new Subject<Signal>();
    const gone = () => living.delete(envoyProcess);
    const life$ = start$(orders$).pipe(
      tap({ error: gone, complete: gone, unsubscribe: gone }), // before any subscriber hears of it
      // Otherwise a subscriber after its end would start another process.
      share({ resetOnError: false, resetOnComplete: false, resetOnRefCountZero: () => released$ }),
    );
    const envoyProcess: LivingProcess = {
      epoch,
      lineage,
      life$,
      send: (signal) => orders$.next(signal),
    };
    living.add(envoyProcess);
    return envoyProcess;
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

/** A process for a refused reading ends at once. The check that follows gives the reason. */
const notRun: ProcessEvent = { type: 'exited', exit: { kind: 'failed', code: 1, tail: [] } };

/**
 * Returns the verdict on a reading that is refused before a proxy sees it; undefined if it is not.
 */
function refusalOf({ config }: Reading<EpochConfig>): Observable<Verdict> | undefined {
  return config.kind === 'refused' ? of({ kind: 'refused', reason: config.reason }) : undefined;
}
