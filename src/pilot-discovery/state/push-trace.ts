import type { ChangeClass } from '../environment/changes.ts';

/** The progress of a snapshot. Times are in ms since 1970. */
interface PushTrace {
  readonly snapshot: number;
  readonly class: ChangeClass;
  /** The first changed keys, and the number of all. */
  readonly keys: readonly string[];
  readonly changed: number;
  readonly changedAt: number;
  /** When the build of the snapshot began, and when it ended. */
  readonly dueAt: number;
  readonly builtAt: number;
  readonly answered: Reached;
  readonly accepted: Reached;
}

/** The number of answers that have reached a step, and the last of them. */
interface Reached {
  readonly number: number;
  readonly lastAt: number | undefined;
  readonly connection: number | undefined;
}

/** The newest trace is the first. */
export type PushTraces = readonly PushTrace[];

const longest = 100;
const mostKeys = 10;
const nobody: Reached = { number: 0, lastAt: undefined, connection: undefined };

interface Begun {
  readonly number: number;
  readonly changes: { readonly class: ChangeClass; readonly keys: ReadonlySet<string> };
  readonly changedAt: number;
  readonly dueAt: number;
  readonly builtAt: number;
}

/** Returns the traces with one more snapshot. The oldest ones are dropped. Pure. */
export function traceOfBuilt(
  traces: PushTraces,
  { number, changes, changedAt, dueAt, builtAt }: Begun,
): PushTraces {
  const keys = [...changes.keys].slice(0, mostKeys);
  const trace = {
    snapshot: number,
    class: changes.class,
    keys,
    changed: changes.keys.size,
    changedAt,
    dueAt,
    builtAt,
    answered: nobody,
    accepted: nobody,
  };
  return [trace, ...traces.slice(0, longest - 1)];
}

/** Returns the traces after an answer from a snapshot was sent or ACKed. Pure. */
export function traceOfAnswer(
  traces: PushTraces,
  {
    type,
    snapshot,
    connection,
  }: {
    readonly type: 'answered' | 'accepted';
    readonly snapshot: number;
    readonly connection: number;
  },
  now: number,
): PushTraces {
  const index = traces.findIndex((trace) => trace.snapshot === snapshot);
  const trace = traces[index];
  return trace === undefined
    ? traces
    : traces.with(index, {
        ...trace,
        [type]: { number: trace[type].number + 1, lastAt: now, connection },
      });
}
