import type { Target } from './control-plane.ts';
import { clients } from './rows-of-clients.ts';
import { crowds } from './rows-of-crowds.ts';
import { files } from './rows-of-files.ts';
import { frames } from './rows-of-frames.ts';

/** An attack by one hostile client, or one file, on a control plane. */
export interface Row {
  readonly name: string;
  /** Begins the attack, and resolves while it continues. The returned function ends it. */
  readonly attack: (target: Target) => Promise<() => void>;
  /** Set if the attack takes seconds: `npm test` leaves it out. */
  readonly cost?: 'seconds';
  /** The required line of the log: an event, and a part of the reason. */
  readonly logged?: readonly [event: string, reason: string];
}

/** All attacks. */
export const rows: readonly Row[] = [...clients, ...crowds, ...files, ...frames];
