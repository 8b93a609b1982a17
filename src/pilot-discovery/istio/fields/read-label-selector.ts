import type { LabelRequirement, LabelSelector } from './label-selector.ts';
import { labelName, matchLabels } from './match-labels.ts';
import { below, list, members, needed, oneOf, type ReadMember, text, wrong } from './members.ts';

/**
 * The limits are more than anybody needs. Each changed Namespace is compared with all selectors.
 */
const most = { selectors: 256, expressions: 64, values: 256 };

const operators: Readonly<Record<string, LabelRequirement['operator']>> = {
  In: 'in',
  NotIn: 'not-in',
  Exists: 'exists',
  DoesNotExist: 'does-not-exist',
};

const operatorNamed: ReadMember<LabelRequirement['operator']> = (value, place) => {
  if (value === undefined)
    wrong(place, `it is missing: one of ${Object.keys(operators).join(', ')}`);
  return oneOf(operators, 'exists')(value, place);
};

const expression: ReadMember<LabelRequirement> = (value, place) =>
  members(value, place, [], (get): LabelRequirement => {
    const key = get('key', needed);
    if (key !== '' && !labelName.test(key))
      wrong(below(place, 'key'), `'${key}' is not a valid name of a label`);
    const operator = get('operator', operatorNamed);
    const values = get('values', list(text, most.values));
    const needsValues = operator === 'in' || operator === 'not-in';
    if (needsValues && values.length === 0)
      wrong(below(place, 'values'), 'it is missing: In and NotIn compare with values');
    if (!needsValues && values.length > 0)
      wrong(below(place, 'values'), 'only In and NotIn have values: leave them out');
    return operator === 'in' || operator === 'not-in'
      ? { operator, key, values }
      : { operator, key };
  });

/** Reads selectors of objects by their labels: `matchLabels` and `matchExpressions`. */
export const labelSelectors: ReadMember<readonly LabelSelector[]> = list(
  (value, place) =>
    members(value, place, [], (get): LabelSelector => [
      ...Object.entries(get('matchLabels', matchLabels)).map(
        ([key, labelValue]): LabelRequirement => ({ operator: 'in', key, values: [labelValue] }),
      ),
      ...get('matchExpressions', list(expression, most.expressions)),
    ]),
  most.selectors,
);
