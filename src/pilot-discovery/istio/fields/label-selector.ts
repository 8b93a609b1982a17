import type { Labels } from './values.ts';
import { ownMember } from '../../../shared/text/own-member.ts';

/** A requirement on one label. */
export type LabelRequirement =
  | {
      readonly operator: 'in' | 'not-in';
      readonly key: string;
      /** At least one. */
      readonly values: readonly string[];
    }
  | { readonly operator: 'exists' | 'does-not-exist'; readonly key: string };

/**
 * Requirements that all have to be met; none of them for a selector that selects everything:
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/
 */
export type LabelSelector = readonly LabelRequirement[];

/** Returns whether labels meet all requirements of a selector. */
export const isSelected = (selector: LabelSelector, labels: Labels): boolean =>
  selector.every((requirement) => {
    const value = ownMember(labels, requirement.key);
    switch (requirement.operator) {
      case 'in':
        return value !== undefined && requirement.values.includes(value);
      // As in Kubernetes, a label that is missing is not one of the values.
      case 'not-in':
        return value === undefined || !requirement.values.includes(value);
      case 'exists':
        return value !== undefined;
      case 'does-not-exist':
        return value === undefined;
    }
  });
