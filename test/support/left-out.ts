import { appendFileSync } from 'node:fs';
import { inject } from 'vitest';

/**
 * What a test needs that not every machine has: root with mounts, namespaces and control groups; or
 * a program that is not part of the project.
 */
export type Need = 'root' | 'a program';

/** Something that a run could not try. */
export interface LeftOut {
  readonly what: string;
  readonly need: Need;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The file that gathers what is left out, one a line. */
    readonly leftOut: string;
  }
}

/** For what this machine does not let a test do: it is named at the end of the run. */
export function leftOut(what: string, need: Need = 'root'): void {
  appendFileSync(inject('leftOut'), `${JSON.stringify({ what, need })}\n`);
}
