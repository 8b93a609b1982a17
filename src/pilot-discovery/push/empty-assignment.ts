import type { XdsResource } from './view.ts';

/** No hash is this. */
const empty = 'empty';

/**
 * Endpoints of a cluster that has none: without an answer Envoy waits for them. It is field 1 of
 * envoy.config.endpoint.v3.ClusterLoadAssignment. Pure.
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

/** Whether it is one: it is for a name that somebody has made up, and nobody else is given it. */
export function isEmptyAssignment({ version }: Pick<XdsResource, 'version'>): boolean {
  return version === empty;
}
