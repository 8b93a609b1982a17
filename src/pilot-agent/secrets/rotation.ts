// Why: docs/decisions/042-a-certificate-is-pushed-or-restarts.md
/** How a changed certificate reaches Envoy, and why in this way. */
export interface WayOfRotation {
  readonly way: 'hot-restart' | 'sds';
  readonly because: string;
}

/**
 * Returns whether a changed certificate restarts Envoy or is pushed to it. By default it is pushed
 * if Envoy's configuration names the socket for the push. A changed configuration restarts Envoy in
 * any case. Pure.
 *
 * @param given `--rotation`; empty if it is not given
 * @param namesSocket whether Envoy's configuration contains the path of the socket
 */
export function wayOfRotation(
  given: '' | WayOfRotation['way'],
  namesSocket: boolean,
): WayOfRotation {
  if (given !== '') return { way: given, because: '--rotation' };
  return namesSocket
    ? { way: 'sds', because: "Envoy's configuration names the socket" }
    : { way: 'hot-restart', because: 'Envoy reads files' };
}
