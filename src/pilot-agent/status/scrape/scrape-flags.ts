// Why: docs/decisions/052-a-large-scrape-waits.md
import { setFlagsFromString } from 'node:v8';
import { keepHeapSmall } from '../../../shared/program/keep-heap-small.ts';

/** Scrapes make garbage. These flags, beside those of every small heap, keep it small. */
const flags = [
  // From Node 24 on, new objects are by default not collected while old ones are marked.
  '--no-separate-gc-phases',
  // The Maglev compiler, which Node has from 22 on, leaves malloc with memory that it does not give
  // back.
  '--no-maglev',
];

/** Sets the flags that keep the memory of scrapes low. They hold for the whole process. */
export function setScrapeFlags(): void {
  keepHeapSmall();
  for (const flag of flags) setFlagsFromString(flag);
}
