import type { Target } from './control-plane.ts';
import { clients } from './rows-of-clients.ts';
import { crowds } from './rows-of-crowds.ts';
import { files } from './rows-of-files.ts';
import { frames } from './rows-of-frames.ts';

/** What one hostile client, or one file, does to a control plane. */
export interface Row {
  readonly name: string;
  /** Begins, and resolves while it goes on; what comes back ends it. */
  readonly attack: (target: Target) => Promise<() => void>;
  /** It takes seconds: `npm test` leaves it out. */
  readonly cost?: 'seconds';
  /** What is to be said of it in the log: an event, and a part of the reason. */
  readonly logged?: readonly [event: string, reason: string];
}

/** All of them. */
export const rows: readonly Row[] = [...clients, ...crowds, ...files, ...frames];
