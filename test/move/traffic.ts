import { type Load, startLoad } from '../support/load.ts';
import { type App, hostOf } from './apps.ts';

/** The requests so far. */
interface Counts {
  readonly requests: number;
  readonly failed: number;
  /** The reasons of failed requests, with the caller and the called app. */
  readonly why: readonly string[];
}

/** The application of a pod, whose calls its sidecar takes at a Unix socket. */
interface Caller {
  readonly app: App;
  readonly calls: string;
}

/** The requests of all applications. */
export interface Traffic {
  counts(): Counts;
  /** Lets the application of a pod call all others. */
  begin(pod: Caller): void;
  /** Lets the application of `next` call all others; then that of `before` ends its calls. */
  take(next: Caller, before: Caller): Promise<void>;
  stop(): Promise<void>;
}

const modes = ['keep-alive', 'new-connection'] as const;
/** The pause between requests of a client, and the longest time that a run may take. In ms. */
const [pauseOfClient, longest] = [40, 3_600_000];

interface Calls {
  readonly from: App;
  readonly to: App;
  readonly load: Load;
}

export function startTraffic(apps: readonly App[]): Traffic {
  const all: Calls[] = [];
  const byPod = new Map<Caller, readonly Calls[]>();
  const begin = (pod: Caller): void => {
    const calls = apps
      .filter(({ name }) => name !== pod.app.name)
      .flatMap((to) =>
        modes.map((mode): Calls => {
          const target = { port: pod.calls, host: hostOf(to), maxDuration: longest };
          const load = startLoad({ ...target, mode, clients: 1, pause: pauseOfClient });
          return { from: pod.app, to, load };
        }),
      );
    all.push(...calls);
    byPod.set(pod, calls);
  };
  const end = async (pod: Caller): Promise<void> => {
    await Promise.all((byPod.get(pod) ?? []).map(({ load }) => load.stop()));
    byPod.delete(pod);
  };
  const sum = (countOf: (load: Load['counts']) => number) =>
    all.reduce((total, { load }) => total + countOf(load.counts), 0);
  return {
    begin,
    counts: () => ({
      requests: sum(({ ok, failed }) => ok + failed),
      failed: sum(({ failed }) => failed),
      why: all.flatMap(({ from, to, load }) =>
        [...load.counts.errors].map(
          ([reason, count]) => `${from.name} → ${to.name}: ${reason} (${count})`,
        ),
      ),
    }),
    async take(next, before) {
      begin(next);
      await end(before);
    },
    async stop() {
      await Promise.all([...byPod.keys()].map(end));
    },
  };
}
