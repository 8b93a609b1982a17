import { parseJson } from '../shared/text/parse-json.ts';
/** A listener of an Envoy, by its name and the address on which it listens. */
export interface ListenerPlace {
  readonly name: string;
  /** `127.0.0.1:8080`, `[::1]:8080`, the path of a socket, or the name of an internal listener. */
  readonly address: string;
}

export const listenersQuestion = '/listeners?format=json';

/** The longest name, in characters. */
const longestName = 200;

type Json = Readonly<Record<string, unknown>>;

/**
 * Returns the listeners in Envoy's answer to `/listeners?format=json`; undefined if this is no such
 * answer. Pure.
 */
export function listenersIn(body: string): readonly ListenerPlace[] | undefined {
  const statuses = parsed(body)['listener_statuses'];
  if (statuses === undefined) return body.trimStart().startsWith('{') ? [] : undefined; // no listener
  return Array.isArray(statuses) ? statuses.map((status) => placeOf(asObject(status))) : undefined;
}

function placeOf({ name, local_address: address }: Json): ListenerPlace {
  const { socket_address: socket, pipe, envoy_internal_address: internal } = asObject(address);
  const { address: host, port_value: port } = asObject(socket);
  const { path } = asObject(pipe);
  const { server_listener_name: within } = asObject(internal);
  const inet = `${text(host).includes(':') ? `[${text(host)}]` : text(host)}:${text(port)}`;
  return { name: text(name), address: socket === undefined ? text(path ?? within) : inet };
}

function parsed(body: string): Json {
  try {
    return asObject(parseJson(body));
  } catch {
    return {};
  }
}

const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {};
const text = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, longestName) : '';

/** Returns the name of a listener in the statistics. Pure. */
export function statsNameOf({ address }: ListenerPlace): string {
  return address.replaceAll(':', '_');
}
