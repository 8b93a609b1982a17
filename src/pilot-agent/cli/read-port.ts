import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { portNumber } from '../../shared/text/host-port.ts';

/** Returns the port that a flag gives. Throws a {@link Fatal} if it is not one. */
export function readPort(flag: string, text: string): number {
  const port = portNumber(text);
  if (port === undefined)
    throw new Fatal(`--${flag}: '${text}' is not a port (1 to 65535)`, exitCodes.usage);
  return port;
}
