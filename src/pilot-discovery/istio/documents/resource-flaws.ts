import type { Place } from '../fields/members.ts';
import type { Flaw, Origin } from './model.ts';

/** The largest number of reported flaws of one resource. */
const mostFlaws = 20;

/** The flaws of one resource while it is read. */
export interface ResourceFlaws {
  readonly tell: Place['tell'];
  /** Returns the paths of the fields with an error. */
  readonly wrongFields: () => readonly string[];
  /** Returns the first flaws, and one more with the number of the others. */
  readonly list: () => readonly Flaw[];
}

/** Collects the flaws of a resource. Only the first 20 are kept. */
export function resourceFlaws(
  key: string | undefined,
  origin: Origin,
  lineOf: (field: string) => number,
): ResourceFlaws {
  const flaws: Flaw[] = [];
  const wrongFields: string[] = [];
  let count = 0;
  return {
    tell: (field, reason, severity) => {
      if (severity === 'error') wrongFields.push(field);
      if ((count += 1) > mostFlaws) return;
      flaws.push({
        key,
        origin: { ...origin, line: lineOf(field) },
        field: oneLine(field),
        reason: oneLine(reason),
        severity,
      });
    },
    wrongFields: () => wrongFields,
    list: () => {
      if (count <= mostFlaws) return flaws;
      const severity = wrongFields.length > 0 ? 'error' : 'warning';
      const reason = `${count - mostFlaws} more things are wrong with it`;
      return [...flaws, { key, origin, field: '', reason, severity }];
    },
  };
}

/** Returns a text of the user in one line, for a sentence. */
const oneLine = (text: string): string => text.replaceAll('\n', '\\n');
