import type { XdsResource } from './view.ts';

/** A version that no hash can be. */
const empty = 'empty';

/**
 * Returns the endpoints of a cluster that has none: Envoy waits for them until it gets an answer.
 * The body is field 1 of envoy.config.endpoint.v3.ClusterLoadAssignment. Pure.
 */
export function emptyAssignment(name: string): XdsResource {
  const text = Buffer.from(name);
  const length: number[] = [];
  let rest = text.length;
  for (; rest > 0x7f; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
  return {
    name,
    version: empty,
    body: Buffer.concat([Buffer.from([0x0a, ...length, rest]), text]),
    keys: [],
  };
}

/**
 * Returns whether a resource is an empty assignment. It is made for one proxy, whose request may
 * name any cluster, so other proxies do not share it.
 */
export function isEmptyAssignment({ version }: Pick<XdsResource, 'version'>): boolean {
  return version === empty;
}
