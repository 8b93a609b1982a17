import { defer, of, type Observable } from 'rxjs';

/** A source whose n-th reading is the n-th character, and stays at the last. */
export function readings(characters: string): Observable<string> {
  let next = 0;
  return defer(() => of(characters.charAt(Math.min(next++, characters.length - 1))));
}
