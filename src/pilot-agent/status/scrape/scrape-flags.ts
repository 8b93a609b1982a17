// Why: docs/decisions/052-a-large-scrape-waits.md
import { setFlagsFromString } from 'node:v8';

/** Scrapes make garbage. These flags keep the garbage, and the memory for it, small. */
const flags = [
  // With Node's default, the heap grows to four times its used size before it is collected.
  '--heap-growing-percent=40',
  // By default, the space for new objects grows to 48 MiB.
  '--semi-space-growth-factor=1',
  // From Node 24 on, new objects are by default not collected while old ones are marked.
  '--no-separate-gc-phases',
  // The Maglev compiler, which Node has from 22 on, leaves malloc with memory that it does not give
  // back.
  '--no-maglev',
];

/** Sets the flags that keep the memory of scrapes low. They hold for the whole process. */
export function setScrapeFlags(): void {
  for (const flag of flags) setFlagsFromString(flag);
}
