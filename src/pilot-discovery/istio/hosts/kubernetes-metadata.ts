import { boolean, ignored, list, members, type ReadMember, text } from '../fields/members.ts';
import type { Labels } from '../fields/values.ts';

/** The metadata of an object, as far as a reader needs them. */
export interface KubernetesMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  /** The prefix of `name`, if Kubernetes generated the name. */
  readonly generateName: string;
  /** The controller of the object. */
  readonly owner: Owner | undefined;
}

export interface Owner {
  readonly kind: string;
  readonly name: string;
}

/** More than any object has. In Kubernetes, one of them is the controller. */
const mostOwners = 64;

/** Reads the owner in `ownerReferences` that controls the object. */
export const controller: ReadMember<Owner | undefined> = (value, place) =>
  list(ownerReference, mostOwners)(value, place).find(({ controls }) => controls)?.owner;

const ownerReference: ReadMember<{ readonly owner: Owner; readonly controls: boolean }> = (
  value,
  place,
) =>
  members(value, place, [], (get) => {
    for (const name of ['apiVersion', 'uid', 'blockOwnerDeletion']) get(name, ignored);
    const owner = { kind: get('kind', text), name: get('name', text) };
    return { owner, controls: get('controller', boolean) === true };
  });
