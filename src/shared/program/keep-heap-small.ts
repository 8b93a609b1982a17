import { setFlagsFromString } from 'node:v8';

const flags = [
  // With Node's default, the heap grows to four times its used size before it is collected.
  '--heap-growing-percent=40',
  // By default, the space for new objects grows to 48 MiB.
  '--semi-space-growth-factor=1',
];

/** Keeps garbage, and the memory for it, small. It holds for the whole process from now on. */
export function keepHeapSmall(): void {
  for (const flag of flags) setFlagsFromString(flag);
}
