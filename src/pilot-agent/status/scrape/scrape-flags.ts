// Why: docs/decisions/052-a-large-scrape-waits.md
import { setFlagsFromString } from 'node:v8';

/** Scrapes make garbage: what keeps it, and the memory for it, small. */
const flags = [
  // With Node's own figure it grows to four times of what is in use before it is looked for.
  '--heap-growing-percent=40',
  // The space for what is new grows to 48 MiB.
  '--semi-space-growth-factor=1',
  // From Node 24 on, what is new is not collected while what is old is marked.
  '--no-separate-gc-phases',
  // The Maglev compiler, which Node has from 22 on, leaves malloc with memory that it does not give
  // back.
  '--no-maglev',
];

/** Sets what keeps the memory of scrapes low. It holds for the whole process. */
export function setScrapeFlags(): void {
  for (const flag of flags) setFlagsFromString(flag);
}
