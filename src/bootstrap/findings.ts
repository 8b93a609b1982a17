import type { Problem } from '../config/resolve-config.ts';

/** What the parts of a bootstrap add to while they are made. With a problem there is no bootstrap; a warning is told, and it holds without the thing. */
export interface Findings {
  readonly problems: Problem[];
  readonly warnings: string[];
}
