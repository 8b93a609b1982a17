import { ownMember } from '../../../shared/text/own-member.ts';
import { below, maybe, members, type ReadMember, texts, wrong } from './members.ts';
import type { Labels } from './values.ts';

/** The names that labels can have by the rules of Kubernetes. */
export const labelName =
  /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,251}[A-Za-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const value = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/**
 * Reads labels that workloads can have by the rules of Kubernetes. No workload could match others.
 */
export const matchLabels: ReadMember<Labels> = (given, place) => {
  const read = texts(given, place);
  for (const [key, labelValue] of Object.entries(read)) {
    if (!labelName.test(key)) wrong(below(place, key), `'${key}' is not a valid name of a label`);
    if (!value.test(labelValue))
      wrong(below(place, key), `'${labelValue}' is not a valid value of a label`);
  }
  return read;
};

const chosen: ReadMember<Labels> = (given, place) => {
  const read = texts(given, place);
  for (const [key, labelValue] of Object.entries(read)) {
    if (key === '') wrong(place, 'a label without a name selects nothing');
    if (key.includes('*') || labelValue.includes('*'))
      wrong(below(place, key), 'a * is not a wildcard here: leave the label out to select all');
  }
  return read;
};

/**
 * Reads labels of `spec.workloadSelector.labels` or `spec.selector.matchLabels`; undefined for all.
 */
export function selector(member: 'labels' | 'matchLabels'): ReadMember<Labels | undefined> {
  return maybe((given, place) => members(given, place, [], (get) => get(member, chosen)));
}

/** Reads the `selector` of a resource that has errors in other places. */
export const selectorAlone: ReadMember<Readonly<Record<string, string>> | undefined> = (
  value,
  place,
) => {
  const given: unknown =
    typeof value === 'object' && value !== null
      ? ownMember(value as Readonly<Record<string, unknown>>, 'selector')
      : undefined;
  return selector('matchLabels')(given ?? undefined, below(place, 'selector'));
};
