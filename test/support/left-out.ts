import { appendFileSync } from 'node:fs';
import { inject } from 'vitest';

/**
 * A requirement of a test that not every machine meets: root with mounts, namespaces and control
 * groups; or a program that is not part of the project.
 */
export type Need = 'root' | 'a program';

/** A test, or a part of one, that a run could not try. */
export interface LeftOut {
  readonly what: string;
  readonly need: Need;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The file to which each test that is left out is appended as a line. */
    readonly leftOut: string;
  }
}

/**
 * Records a test, or a part of one, that this machine does not permit. The run names it at its end.
 */
export function leftOut(what: string, need: Need = 'root'): void {
  appendFileSync(inject('leftOut'), `${JSON.stringify({ what, need })}\n`);
}
