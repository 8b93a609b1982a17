import type { FamilyType } from './family-type.ts';
import type { Sample } from './parse-sample.ts';

/** Whether a row keeps the rules of its family's type, as far as one row can. `suffix` is what follows the family's name in the row's. Pure. */
export function soundRow({ labels, bound, value }: Sample, family: string, type: FamilyType, suffix: string): boolean {
  const amount = Number(value === '+Inf' ? Infinity : value === '-Inf' ? -Infinity : value);
  switch (type) {
    case 'counter':
      return amount >= 0;
    case 'histogram':
    case 'gaugehistogram':
      if (suffix !== '_bucket') return bound === undefined && (amount >= 0 || suffix === '_gsum');
      return bound?.[0] === 'le' && !Number.isNaN(boundOf(bound[1])) && amount >= 0;
    case 'summary': {
      if (suffix !== '') return bound === undefined && amount >= 0;
      const quantile = bound?.[0] === 'quantile' ? boundOf(bound[1]) : NaN;
      return quantile >= 0 && quantile <= 1 && !(amount < 0);
    }
    case 'info':
      return amount === 1;
    case 'stateset':
      return (amount === 0 || amount === 1) && `,${labels}`.includes(`,${family}="`);
    case 'gauge':
    case 'unknown':
      return true;
  }
}

/** `le` or `quantile` as a number; NaN if it is none. */
export function boundOf(text: string): number {
  if (/^\+?inf(inity)?$/i.test(text)) return Infinity;
  if (/^-inf(inity)?$/i.test(text)) return -Infinity;
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : NaN;
}
