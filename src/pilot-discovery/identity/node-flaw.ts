import { isObject } from '../../shared/text/is-object.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import { type Caller, spiffeOf } from './caller.ts';

/** A node of a request. */
export interface ClaimedNode {
  readonly id: string;
  /** As JSON. */
  readonly metadata?: unknown;
}

/** `role~address~name.namespace~domain`. A namespace has no dot. */
const form = /^[^~]*~[^~]*~[^~]*\.([^~.]+)~[^~]*$/;

/** The longest claim in a reason, in characters. */
const longest = 200;

/** Each member of the metadata must repeat this part of the caller. */
const inMetadata = [
  ['NAMESPACE', 'namespace'],
  ['CONFIG_NAMESPACE', 'namespace'],
  ['SERVICE_ACCOUNT', 'serviceAccount'],
] as const;

/**
 * Returns why a caller may not be this node; undefined if it may. The namespace in the node's id
 * must be the caller's, and so must the namespaces and the service account in its metadata, if it
 * has them. Pure.
 */
export function nodeFlaw(caller: Caller, { id, metadata }: ClaimedNode): string | undefined {
  const [, namespace = ''] = form.exec(id) ?? [];
  if (namespace !== caller.namespace) return flaw(caller, 'the id of the node', namespace);
  for (const [name, part] of inMetadata) {
    const claim = textOf(metadata, name);
    if (claim !== undefined && claim !== caller[part])
      return flaw(caller, `${name} of the node`, claim);
  }
  return undefined;
}

const flaw = (caller: Caller, place: string, claim: string): string =>
  `the caller is ${spiffeOf(caller)}, and ${place} says '${claim.slice(0, longest)}'`;

/** Returns a member of the metadata as a text; undefined if it says nothing. */
function textOf(metadata: unknown, name: string): string | undefined {
  const value = isObject(metadata) ? ownMember(metadata, name) : undefined;
  if (value === undefined || value === '') return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
