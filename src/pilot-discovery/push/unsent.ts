/**
 * Why a proxy is not sent what has changed of a type. It has not answered the answer before it; it
 * has to accept something of another type first; it may still ask for types that need what is to
 * go; or it has NACKed this version. Undefined elsewhere: there is nothing to send.
 */
export type Unsent =
  'in flight' | 'clusters' | 'endpoints' | 'listeners' | 'routes' | 'introduction' | 'NACKed';

/** In words: `waits for clusters`. Pure. */
export function unsentText(unsent: Unsent): string {
  return unsent === 'NACKed' ? unsent : `waits for ${unsent}`;
}
