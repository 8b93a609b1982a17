import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../../support/ask.ts';
import type { MeshPod } from './mesh-pod.ts';

/** What a pod is like at one moment. */
export interface Sample {
  /** In ms, since the watch began. */
  readonly at: number;
  readonly ready: Answer;
  /** The status of a request through the listener of the mesh for the upstream. */
  readonly outbound: number;
  /** The status of a plain request to the listener of the mesh for the pod itself. */
  readonly inbound: number;
  /** The serial that the same listener shows to a peer of the mesh. */
  readonly serial: string | undefined;
}

export interface Watch {
  readonly samples: readonly Sample[];
  /** Lets the looks that are under way finish. */
  stop(): Promise<readonly Sample[]>;
}

/** In ms. */
const every = 100;

/** Looks at a pod each 100 ms. */
export function watchPod(pod: MeshPod): Watch {
  const samples: Sample[] = [];
  const looks: Promise<unknown>[] = [];
  const began = performance.now();
  const stopped = new AbortController();
  const look = async () => {
    const at = Math.round(performance.now() - began);
    const [ready, outbound, inbound, serial] = await Promise.all([
      pod.ready(),
      pod.request('outbound'),
      pod.request('inbound'),
      pod.shownSerial(),
    ]);
    samples.push({ at, ready, outbound: outbound.status, inbound: inbound.status, serial });
  };
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      looks.push(look());
      await sleep(every);
    }
  })();
  return {
    samples,
    async stop() {
      stopped.abort();
      await watching;
      await Promise.all(looks);
      return samples.sort((a, b) => a.at - b.at);
    },
  };
}

/** Whether the pod has its listeners of the mesh and its certificate. */
export const isWhole = ({ outbound, inbound, serial }: Sample): boolean => outbound === 200 && inbound === 200 && serial !== undefined;

/**
 * Where readiness says what is not so. A look at a moment of change may see one thing before and
 * another after it: what counts is wrong three times in a row.
 */
export function untrue(samples: readonly Sample[]): readonly string[] {
  const isWrong = (sample: Sample | undefined) => sample !== undefined && (sample.ready.status === 200) !== isWhole(sample);
  return told(samples.filter((sample, at) => [sample, samples[at + 1], samples[at + 2]].every(isWrong)));
}

/** Where there was no listener, or no certificate. */
export const broken = (samples: readonly Sample[]): readonly string[] => told(samples.filter((sample) => !isWhole(sample)));

/** The samples as text: those that are the same in one line. */
export function told(samples: readonly Sample[]): readonly string[] {
  const spans = new Map<string, number[]>();
  for (const { at, ready, outbound, inbound, serial } of samples) {
    const what = `ready ${ready.status} ${ready.body.trim()}; outbound ${outbound}, inbound ${inbound}, certificate ${serial ?? 'none'}`;
    spans.set(what, [...(spans.get(what) ?? []), at]);
  }
  return [...spans].map(([what, at]) => `${at.length} times from ${at[0] ?? 0} to ${at.at(-1) ?? 0} ms: ${what}`);
}
