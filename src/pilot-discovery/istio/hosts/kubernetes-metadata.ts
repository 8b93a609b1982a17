import { labelName } from '../fields/match-labels.ts';
import {
  below,
  boolean,
  ignored,
  list,
  members,
  type ReadMember,
  text,
  texts,
  wrong,
} from '../fields/members.ts';
import type { Labels } from '../fields/values.ts';

/** The metadata of an object, as far as a reader needs them. */
export interface KubernetesMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  /** Empty unless the object is about to be deleted. */
  readonly deletionTimestamp: string;
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

/** How the objects of a kind are named: as one part of a DNS name, or as a DNS name. */
export type ObjectName = 'label' | 'subdomain';

const label = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const names: Readonly<Record<ObjectName, RegExp>> = {
  label: new RegExp(`^${label}$`),
  subdomain: new RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})*$`),
};
const allowed: Readonly<Record<ObjectName, string>> = {
  label: '63 lower-case letters, digits and - at most',
  subdomain: '253 lower-case letters, digits, - and . at most',
};

/** Reads the name of an object of Kubernetes. Kubernetes itself would refuse a wrong name. */
export const objectName =
  (kind: string, named: ObjectName): ReadMember<string> =>
  (value, place) => {
    const read = text(value, place);
    if (read !== '' && !names[named].test(read))
      wrong(place, `'${read}' is not a valid name of a ${kind}: ${allowed[named]}`);
    return read;
  };

/** Reads the annotations of an object of Kubernetes. Kubernetes itself would refuse a wrong key. */
export const objectAnnotations: ReadMember<Labels> = (value, place) => {
  const read = texts(value, place);
  for (const key of Object.keys(read))
    if (!labelName.test(key))
      wrong(below(place, key), `'${key}' is not a valid name of an annotation`);
  return read;
};
