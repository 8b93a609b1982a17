import assert from 'node:assert/strict';
import {
  filter,
  firstValueFrom,
  lastValueFrom,
  ReplaySubject,
  take,
  timeout,
  timer,
  toArray,
} from 'rxjs';
import type { ConfigSource, SourceChange, SourceReading } from '../streams/config-source.ts';

/** A source to test, and the actions that affect its readings. */
export interface SourceStage {
  readonly source: ConfigSource;
  /** Changes the content that it reads, permanently. */
  readonly change: () => void | Promise<void>;
  /** Makes it unreadable, until the end of the outage; left out if that cannot happen. */
  readonly outage?: {
    readonly begin: () => void | Promise<void>;
    readonly end: () => void | Promise<void>;
  };
  /** How long each answer may take, in ms; 5,000 if left out. */
  readonly within?: number;
  /** Called at the end. */
  readonly end?: () => void | Promise<void>;
}

/** One promise that a source keeps. `check` rejects if it is broken. */
export interface SourcePromise {
  readonly name: string;
  readonly check: () => Promise<void>;
}

type Trial = (stage: SourceStage, listener: Listener) => Promise<void>;

/**
 * Returns the promises of every source, for any test runner: `for (const { name, check } of
 * sourceContract(stage)) test(name, check)`. `stage` makes a new source and its surroundings for
 * each promise. Time is real.
 */
export function sourceContract(
  stage: () => SourceStage | Promise<SourceStage>,
): readonly SourcePromise[] {
  return Object.entries(trials).map(([name, trial]) => ({
    name,
    check: async () => {
      const newStage = await stage();
      const listener = listen(newStage);
      try {
        await trial(newStage, listener);
      } finally {
        listener.stop();
        await newStage.end?.();
      }
    },
  }));
}

const trials: Readonly<Record<string, Trial>> = {
  'a reading is one value, and ends': async ({ source, within = 5_000 }) => {
    const readings = await lastValueFrom(source.reading$.pipe(timeout(within), toArray()), {
      defaultValue: [],
    });
    assert.equal(
      readings.length,
      1,
      `reading$ has emitted ${readings.length} readings instead of one`,
    );
  },
  'two readings of the same content have the same hash': async (_, { read }) => {
    const first = await read();
    assert.equal((await read()).hash, first.hash, 'the hash differs, though nothing has changed');
  },
  'each part of a reading has its own name': async (_, { read }) => {
    const names = (await read()).parts().map(({ source, part }) => `${source} ${part}`);
    assert.deepEqual(names, [...new Set(names)], 'two parts have the same name');
  },
  'it is ready when it listens, and goes on listening': async (_, { nextSign, isListening }) => {
    await nextSign('ready');
    await pause(100);
    assert.ok(isListening(), 'changes$ has ended, or errored');
  },
  'a change is emitted, and the reading after it differs in the hash and in a part': async (
    { change },
    { read, nextSign },
  ) => {
    await nextSign('ready');
    const before = await read();
    const changed = nextSign('changed');
    await change();
    await changed;
    await differs(before, read);
  },
  'it can be listened to again after all listeners have left': async (
    stage,
    { read, nextSign, stop },
  ) => {
    await nextSign('ready');
    const before = await read();
    stop();
    await pause(100);
    const again = listen(stage);
    try {
      await again.nextSign('ready');
      await pause(100);
      assert.equal(
        (await again.read()).hash,
        before.hash,
        'the reading has changed when it is listened to again',
      );
      const changed = again.nextSign('changed');
      await stage.change();
      await changed;
    } finally {
      again.stop();
    }
  },
  'an outage is not a change, and a change after it is emitted': async (
    { change, outage },
    { read, nextSign, isListening },
  ) => {
    if (outage === undefined) return;
    await nextSign('ready');
    const before = await read();
    await outage.begin();
    await pause(500);
    assert.equal((await read()).hash, before.hash, 'an outage has changed the reading');
    assert.ok(isListening(), 'changes$ has ended, or errored, in an outage');
    await outage.end();
    await pause(500);
    assert.equal((await read()).hash, before.hash, 'the reading has changed after an outage');
    const changed = nextSign('changed');
    await change();
    await changed;
    await differs(before, read);
  },
};

const pause = (ms: number) => lastValueFrom(timer(ms), { defaultValue: 0 });

async function differs(before: SourceReading, read: () => Promise<SourceReading>): Promise<void> {
  const after = await read();
  assert.notEqual(after.hash, before.hash, 'the hash is the same after a change');
  const hashes = (reading: SourceReading) =>
    reading.parts().map(({ part, hash }) => `${part} ${hash}`);
  assert.notDeepEqual(hashes(after), hashes(before), 'no part differs after a change');
}

interface Listener {
  /** Reads the source once. */
  readonly read: () => Promise<SourceReading>;
  /**
   * Resolves at the next sign of this type, or at once if the type is `ready` and it was ready
   * already.
   */
  readonly nextSign: (type: SourceChange['type']) => Promise<void>;
  readonly isListening: () => boolean;
  readonly stop: () => void;
}

/** Subscribes to the changes of a source. */
function listen({ source, within = 5_000 }: SourceStage): Listener {
  const signs$ = new ReplaySubject<SourceChange>(Infinity);
  let count = 0;
  const subscription = source.changes$.subscribe({
    next: (sign) => {
      count += 1;
      signs$.next(sign);
    },
    error: (cause: unknown) => signs$.error(new Error('changes$ has errored', { cause })),
  });
  return {
    read: async () => {
      const reading = await firstValueFrom(source.reading$.pipe(timeout(within)), {
        defaultValue: undefined,
      });
      return reading ?? assert.fail('reading$ has ended without a reading');
    },
    nextSign: async (type) => {
      const from = type === 'ready' ? 0 : count;
      await firstValueFrom(
        signs$.pipe(
          filter((sign, place) => place >= from && sign.type === type),
          take(1),
          timeout({
            first: within,
            with: () => assert.fail(`changes$ has not emitted '${type}' within ${within} ms`),
          }),
        ),
        { defaultValue: undefined },
      );
    },
    isListening: () => !subscription.closed,
    stop: () => subscription.unsubscribe(),
  };
}
