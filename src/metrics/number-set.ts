/** Numbers that were there. */
export interface NumberSet {
  /** Whether it is new. */
  add(number: number): boolean;
  clear(): void;
}

/**
 * A set that makes no garbage: a scrape has a number for each row, and each entry of a `Set` would
 * be an object. It is cleared by the number of the round that each entry has.
 */
export function numberSet(): NumberSet {
  let numbers = new Float64Array(64);
  let rounds = new Uint32Array(64);
  let [round, size] = [1, 0];

  const place = (number: number): number => {
    const mask = numbers.length - 1;
    let at = ((number | 0) ^ (number / 0x1000000)) & mask;
    while (rounds[at] === round && numbers[at] !== number) at = (at + 1) & mask;
    return at;
  };
  const grow = () => {
    const [before, since] = [numbers, rounds];
    numbers = new Float64Array(before.length * 4);
    rounds = new Uint32Array(before.length * 4);
    for (const [at, number] of before.entries()) {
      if (since[at] !== round) continue;
      const to = place(number);
      numbers[to] = number;
      rounds[to] = round;
    }
  };
  return {
    add(number) {
      const at = place(number);
      if (rounds[at] === round) return false;
      numbers[at] = number;
      rounds[at] = round;
      size += 1;
      if (size * 2 > numbers.length) grow();
      return true;
    },
    clear() {
      if (size === 0) return;
      size = 0;
      round += 1;
    },
  };
}
