import { map, type Observable, of, timeout } from 'rxjs';
import { httpAnswer } from '../src/shared/http/http-answer.ts';

/**
 * Asks `echo.mesh` once, on subscribe, through the sidecar at a port. Emits the answer: its text,
 * its status if that is not 200, or why there is none. Completes then. Never errors.
 *
 * @param longest how long the answer may take, in ms
 */
export function answerOf(port: number, longest = 5_000): Observable<string> {
  return httpAnswer(`http://127.0.0.1:${port}/`, { headers: { host: 'echo.mesh' } }).pipe(
    map((answer) => {
      if (!answer.ok) return (answer.error as Error).message;
      const { status, body } = answer.value;
      return status === 200 ? body.trim() : String(status);
    }),
    timeout({ first: longest, with: () => of(`no answer within ${longest / 1_000} s`) }),
  );
}
