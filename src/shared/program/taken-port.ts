import { holderName, portHolder } from './port-holder.ts';

/** A port that the agent or its Envoy cannot have. */
export interface TakenPort {
  readonly host: string;
  readonly port: number;
  /** What to change so that another one is asked for. */
  readonly choose: string;
}

/**
 * Who has the port, as far as /proc shows it, and what to do about that. It goes behind the text
 * that names the port.
 */
export function takenBy({ host, port, choose }: TakenPort): string {
  const holder = portHolder(port, host);
  return `${holder === undefined ? '' : ` by ${holderName(holder)}`}: end who has it, or change ${choose}`;
}
