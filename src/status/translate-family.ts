import type { ExpositionFormat } from './exposition-format.ts';
import type { FamilyHead } from './family-type.ts';

/**
 * What a family becomes in the other format, the best first; none where the other format has nothing for it. The names of rows never change:
 * a counter of OpenMetrics is named without the `_total` of its rows, and one whose rows have no `_total` is unknown there. Pure.
 */
export function translateFamily({ name, type }: FamilyHead, from: ExpositionFormat, to: ExpositionFormat): readonly FamilyHead[] {
  if (from === to) return [{ name, type }];
  if (to === 'openmetrics') {
    if (type !== 'counter') return [{ name, type }];
    const unknown: FamilyHead = { name, type: 'unknown' };
    return /.+_total$/s.test(name) ? [{ name: name.slice(0, -'_total'.length), type }, unknown] : [unknown];
  }
  switch (type) {
    case 'counter':
      return [{ name: `${name}_total`, type }];
    case 'info':
      return [{ name: `${name}_info`, type: 'gauge' }];
    case 'stateset':
      return [{ name, type: 'gauge' }];
    case 'gaugehistogram':
      return [];
    default:
      return [{ name, type }];
  }
}
