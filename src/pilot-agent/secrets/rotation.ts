// Why: docs/decisions/042-a-certificate-is-pushed-or-restarts.md
/** Which way a changed certificate takes to Envoy, and why that one. */
export interface WayOfRotation {
  readonly way: 'hot-restart' | 'sds';
  readonly because: string;
}

/**
 * Whether a changed certificate restarts Envoy or is pushed to it. By default it is pushed to an
 * Envoy whose configuration names the socket that it would be pushed over. A changed configuration
 * restarts Envoy in any case. Pure.
 *
 * @param given `--rotation`; empty where it is not given
 * @param namesSocket whether Envoy's configuration has the path of the socket in it
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
