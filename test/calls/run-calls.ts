import { isDeepStrictEqual } from 'node:util';
import { askCall, type CallAnswer, isForAllPorts } from './ask-call.ts';
import { startCallsStage } from './calls-stage.ts';
import { type Call, planOf } from './plan.ts';

/** A call that two control planes answer differently. */
export interface Difference {
  readonly call: Call;
  readonly ours: CallAnswer;
  readonly istiods: CallAnswer;
}

export interface CallsReport {
  readonly calls: number;
  readonly differences: readonly Difference[];
  /** Calls by listener and status. */
  readonly byAnswer: Readonly<Record<string, number>>;
  /**
   * The statuses of istiod's answers at its listeners for all ports (`HTTP_PROXY`, a Unix socket).
   * The routes of these listeners ignore the port of the host, so they find only services at port
   * 80. The listener for the port of the services stands for them.
   */
  readonly atAllPorts: Readonly<Record<string, number>>;
  readonly seconds: number;
}

interface CallsOptions {
  readonly seed: number;
  readonly calls: number;
  /** The program that runs a real istiod. */
  readonly istiod: string;
}

/** Sends the calls of a seed through proxies of this control plane, and of a real istiod. */
export async function runCalls({ seed, calls: count, istiod }: CallsOptions): Promise<CallsReport> {
  const begun = performance.now();
  const stage = await startCallsStage(istiod);
  try {
    const { rules, calls } = planOf(seed, count, stage.ports);
    const ours = await stage.over('pilot-discovery', rules, () =>
      inTurn(calls, (call) => askCall(call, stage.asking)),
    );
    const [istiods, atAllPorts] = await stage.over('istiod', rules, async () => {
      const { sidecar } = stage.asking.listeners;
      const forAll = calls.filter(({ via }) => isForAllPorts(via));
      return [
        await inTurn(calls, (call) =>
          askCall(call, stage.asking, isForAllPorts(call.via) ? sidecar : undefined),
        ),
        await inTurn(forAll, (call) => askCall(call, stage.asking)),
      ] as const;
    });
    return {
      calls: calls.length,
      differences: calls.flatMap((call, index) => {
        const [mine, theirs] = [ours[index], istiods[index]];
        if (mine === undefined || theirs === undefined) throw new Error('a call has no answer');
        return isDeepStrictEqual(mine, theirs) ? [] : [{ call, ours: mine, istiods: theirs }];
      }),
      byAnswer: counted(ours.map(({ status }, index) => `${calls[index]?.via ?? ''} ${status}`)),
      atAllPorts: counted(atAllPorts.map(({ status }) => String(status))),
      seconds: Math.round((performance.now() - begun) / 1_000),
    };
  } finally {
    await stage.dispose();
  }
}

async function inTurn<T, U>(
  list: readonly T[],
  work: (entry: T) => Promise<U>,
): Promise<readonly U[]> {
  const results: U[] = [];
  for (const entry of list) results.push(await work(entry));
  return results;
}

function counted(words: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
