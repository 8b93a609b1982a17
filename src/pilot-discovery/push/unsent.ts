/**
 * Why a change of a type is not sent to a proxy. It has neither ACKed nor NACKed the last answer;
 * it must first ACK another type; it may still ask for types that need the removed resources; or it
 * has NACKed this version. Undefined in its place means that there is nothing to send.
 */
export type Unsent =
  'in flight' | 'clusters' | 'endpoints' | 'listeners' | 'routes' | 'introduction' | 'NACKed';

/** Returns the reason in words: `waits for clusters`. Pure. */
export function unsentText(unsent: Unsent): string {
  return unsent === 'NACKed' ? unsent : `waits for ${unsent}`;
}
