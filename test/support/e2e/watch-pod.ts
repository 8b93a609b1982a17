import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../ask.ts';
import type { MeshPod } from './mesh-pod.ts';

/** What a pod is like at one moment. */
export interface Sample {
  /** In ms, since the watch began. */
  readonly at: number;
  readonly ready: Answer;
  /** What comes of a request through the listener of the mesh for the upstream. */
  readonly outbound: Answer;
  /** And of a plain request to the listener of the mesh for the pod itself. */
  readonly inbound: Answer;
  /**
   * The serial that the same listener shows to a peer of the mesh. A handshake costs as much as all
   * the rest: it is the newest that was seen.
   */
  readonly serial: string | undefined;
}

export interface Watch {
  readonly samples: readonly Sample[];
  /** Lets the looks that are under way finish. */
  stop(): Promise<readonly Sample[]>;
}

/** In ms. */
const every = 100;
const second = 1_000;
/** Each so many looks there is a handshake. */
const handshakes = 4;

/** Looks at a pod each 100 ms. */
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
/** Whether it has its certificate, too. */
const isWhole = (sample: Sample): boolean => serves(sample) && sample.serial !== undefined;

/**
 * Where readiness says what is not so, for a second at least: a look at a moment of change sees one
 * thing before and another after it.
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

/** Where there was no listener, or no certificate. */
export const broken = (samples: readonly Sample[]): readonly string[] =>
  sampleLines(samples.filter((sample) => !isWhole(sample)));

/** Where plain requests did not pass. */
export const unserved = (samples: readonly Sample[]): readonly string[] =>
  sampleLines(samples.filter((sample) => !serves(sample)));

/** The samples as text: those that are the same in one line. */
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
