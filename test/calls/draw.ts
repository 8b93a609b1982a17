import { seeded } from '../chaos/seeded.ts';

/** Draws at random, always the same for the same seed. */
export interface Draw {
  oneOf<T>(list: readonly [T, ...T[]]): T;
  /** Whether it happens, with a probability from 0 to 1. */
  chance(probability: number): boolean;
  /** Returns a list of draws, between `least` and `most` of them. */
  several<T>(least: number, most: number, draw: () => T): readonly T[];
}

export function drawing(seed: number): Draw {
  const random = seeded(seed);
  const below = (count: number) => Math.floor(random() * count);
  return {
    oneOf: (list) => list[below(list.length)] ?? list[0],
    chance: (probability) => random() < probability,
    several: (least, most, draw) =>
      Array.from({ length: least + below(most - least + 1) }, () => draw()),
  };
}
