/** A set of numbers. */
export interface NumberSet {
  /** Adds a number, and returns whether it is new. */
  add(number: number): boolean;
}

/**
 * Makes a set of numbers from 0 on that leaves no garbage: a scrape has a number for each row, and
 * each entry of a `Set` would be an object.
 */
export function numberSet(): NumberSet {
  let numbers = new Float64Array(64).fill(none);
  let size = 0;

  const place = (number: number): number => {
    const mask = numbers.length - 1;
    let index = ((number | 0) ^ (number / 0x1000000)) & mask;
    while (numbers[index] !== none && numbers[index] !== number) index = (index + 1) & mask;
    return index;
  };
  const grow = () => {
    const before = numbers;
    numbers = new Float64Array(before.length * 2).fill(none);
    for (const number of before) if (number !== none) numbers[place(number)] = number;
  };
  return {
    add(number) {
      const index = place(number);
      if (numbers[index] === number) return false;
      numbers[index] = number;
      size += 1;
      if (size * 4 > numbers.length * 3) grow();
      return true;
    },
  };
}

const none = -1;
