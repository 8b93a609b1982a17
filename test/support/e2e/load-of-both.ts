import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import { startLoad } from '../load.ts';
import type { Rig } from './rig.ts';

export interface LoadOfBoth {
  /** Ends the load, and expects that no request has failed. */
  lostNothing(): Promise<void>;
  stop(): Promise<unknown>;
}

/**
 * Sends requests over kept connections and over new ones. Resolves when more than 20 of each were
 * answered.
 */
export async function underLoad(rig: Rig): Promise<LoadOfBoth> {
  const to = { port: rig.ports.listen, tls: { ca: rig.ca.rootCert }, clients: 2 };
  const loads = [
    startLoad({ ...to, mode: 'keep-alive', pause: 5 }),
    startLoad({ ...to, mode: 'new-connection', pause: 20 }),
  ];
  const stop = () => Promise.all(loads.map((load) => load.stop()));
  await eventually(() => loads.every(({ counts }) => counts.ok > 20));
  return {
    stop,
    async lostNothing() {
      const results = await stop();
      expect(results.map(({ failed, errors }) => [failed, [...errors]])).toEqual([
        [0, []],
        [0, []],
      ]);
    },
  };
}
