import { map, type Observable } from 'rxjs';
import { httpAnswer } from '../node/http-answer.ts';

/** Asks once, and emits why the URL does not answer with 200; undefined if it does. Never errors. */
export function unreadyAt(url: string): Observable<string | undefined> {
  return httpAnswer(url).pipe(
    map((answer) => {
      if (!answer.ok) {
        const { message, code } = answer.error as NodeJS.ErrnoException;
        return message === '' ? (code ?? 'no connection') : message; // of several addresses, each with its own error, only the code is told
      }
      const { status, body } = answer.value;
      return status === 200 ? undefined : `it answers ${status}${body === '' ? '' : `: ${body}`}`;
    }),
  );
}
