import { holderName, portHolder } from './port-holder.ts';

/** A port that the agent or its Envoy cannot use. */
export interface TakenPort {
  readonly host: string;
  readonly port: number;
  /** The setting that chooses another port. */
  readonly choose: string;
}

/**
 * Describes the program that has the port, as far as /proc shows it, and what to do about it. The
 * text follows the name of the port in a message.
 */
export function takenBy({ host, port, choose }: TakenPort): string {
  const holder = portHolder(port, host);
  return `${holder === undefined ? '' : ` by ${holderName(holder)}`}: end who has it, or change ${choose}`;
}
