import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';

/** Does what the configuration asks for; throws a {@link Fatal} (78) that begins with `what` where that fails. */
export function attempt<T>(action: () => T, what: string): T {
  try {
    return action();
  } catch (error) {
    throw new Fatal(`${what}: ${(error as Error).message}`, exitCodes.config);
  }
}
