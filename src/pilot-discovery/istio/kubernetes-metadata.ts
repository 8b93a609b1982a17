import { boolean, ignored, list, members, type ReadMember, text } from './members.ts';
import type { Labels } from './values.ts';

/** What the metadata of an object says that its reader needs. */
export interface KubernetesMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  /** From which `name` was made, if Kubernetes made it. */
  readonly generateName: string;
  /** What controls the object. */
  readonly owner: Owner | undefined;
}

export interface Owner {
  readonly kind: string;
  readonly name: string;
}

/** As many as anything has; Kubernetes has one that controls it. */
const mostOwners = 64;

/** Of `ownerReferences` the one that controls the object. */
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
