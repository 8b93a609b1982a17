import type { ExpositionFormat } from './exposition-format.ts';
import type { FamilyHead, FamilyType } from './family-type.ts';

/** What comments say of a family before its rows come. */
export interface Announced {
  readonly name: string;
  type?: FamilyType;
  help?: string;
  unit?: string;
}

/** The comments of a family in the format of the answer, a line each. Pure. */
export function printHead({ name, type }: FamilyHead, { help, unit }: Announced, to: ExpositionFormat): string {
  const text = help === undefined ? '' : `# HELP ${name} ${helpText(help, to)}\n`;
  const word = type === 'unknown' && to === 'text' ? 'untyped' : type;
  const hasUnit = to === 'openmetrics' && unit !== undefined && unit !== '' && name.endsWith(`_${unit}`) && type !== 'info' && type !== 'stateset'; // prettier-ignore
  return `${text}# TYPE ${name} ${word}\n${hasUnit ? `# UNIT ${name} ${unit}\n` : ''}`;
}

/** Unescaped as either format writes it, and escaped as the answer's does. */
function helpText(text: string, to: ExpositionFormat): string {
  const plain = text.replace(/\\([\\n"])/g, (_, sign: string) => (sign === 'n' ? '\n' : sign));
  const escaped = plain.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return to === 'text' ? escaped : escaped.replaceAll('"', '\\"');
}
