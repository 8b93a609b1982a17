import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../ask.ts';
import type { MeshPod } from './mesh-pod.ts';

/** The state of a pod at one moment. */
export interface Sample {
  /** The time since the watch began, in ms. */
  readonly at: number;
  readonly ready: Answer;
  /** The answer to a request through the listener of the mesh for the upstream. */
  readonly outbound: Answer;
  /** The answer to a plain request to the listener of the mesh for the pod itself. */
  readonly inbound: Answer;
  /**
   * The serial of the certificate that the same listener sends to a peer of the mesh. Because a
   * handshake costs as much as all the rest, it is the newest one that was seen.
   */
  readonly serial: string | undefined;
}

export interface Watch {
  readonly samples: readonly Sample[];
  /** Ends the watch; resolves when the looks that are under way have finished. */
  stop(): Promise<readonly Sample[]>;
}

/** The time between two looks, in ms. */
const every = 100;
const second = 1_000;
/** The number of looks between two handshakes. */
const handshakes = 4;

/** Looks at a pod every 100 ms. */
export function watchPod(pod: MeshPod): Watch {
  const samples: Sample[] = [];
  const looks: Promise<unknown>[] = [];
  const began = performance.now();
  const stopped = new AbortController();
  let serial: Promise<string | undefined>;
  const look = async (number: number) => {
    const time = Math.round(performance.now() - began);
    if (number % handshakes === 0) serial = pod.shownSerial();
    const ready = await pod.ready();
    const [outbound, inbound] = await Promise.all([
      pod.request('outbound'),
      pod.request('inbound'),
    ]);
    samples.push({ at: time, ready, outbound, inbound, serial: await serial });
  };
  const watching = (async () => {
    for (let number = 0; !stopped.signal.aborted; number++) {
      looks.push(look(number));
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

/** Whether the pod serves plain requests. */
const serves = ({ outbound, inbound }: Sample): boolean =>
  outbound.status === 200 && inbound.status === 200;
/** Whether the pod serves plain requests and has its certificate. */
const isWhole = (sample: Sample): boolean => serves(sample) && sample.serial !== undefined;

/**
 * Returns the samples from which readiness is wrong for at least a second. A single sample
 * proves nothing: during a change, it can see one thing before the change and another after it.
 */
export function untrue(samples: readonly Sample[]): readonly string[] {
  const isWrong = (sample: Sample) => (sample.ready.status === 200) !== isWhole(sample);
  const ends = (samples.at(-1)?.at ?? 0) - second;
  return sampleLines(
    samples.filter(
      ({ at: time }) =>
        time <= ends &&
        samples.every((other) => other.at < time || other.at > time + second || isWrong(other)),
    ),
  );
}

/** Returns the samples in which a plain request failed or there was no certificate. */
export const broken = (samples: readonly Sample[]): readonly string[] =>
  sampleLines(samples.filter((sample) => !isWhole(sample)));

/** Returns the samples in which a plain request failed. */
export const unserved = (samples: readonly Sample[]): readonly string[] =>
  sampleLines(samples.filter((sample) => !serves(sample)));

/** Returns the samples as text. Equal samples share a line. */
function sampleLines(samples: readonly Sample[]): readonly string[] {
  const spans = new Map<string, number[]>();
  for (const { at: time, ready, outbound, inbound, serial } of samples) {
    const words = Object.entries({ ready, outbound, inbound }).map(
      ([name, { status, body }]) => `${name} ${status} ${body.trim()}`,
    );
    const what = [...words, `certificate ${serial ?? 'none'}`].join('; ');
    spans.set(what, [...(spans.get(what) ?? []), time]);
  }
  return [...spans].map(
    ([what, times]) =>
      `${times.length} times from ${times[0] ?? 0} to ${times.at(-1) ?? 0} ms: ${what}`,
  );
}
