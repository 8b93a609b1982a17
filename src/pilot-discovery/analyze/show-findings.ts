import { placeOf } from '../istio/documents/place-of.ts';
import { partsOf } from '../environment/resources.ts';
import { type AnalysisFinding, findingKinds, type FindingLevel } from './finding.ts';

const titles: Readonly<Record<FindingLevel, string>> = {
  error: 'Error',
  warning: 'Warning',
  info: 'Info',
};

/** `VirtualService shop/reviews`; '' for a file. */
function nameOf({ key }: AnalysisFinding): string {
  if (key === undefined) return '';
  const { kind, namespace, name } = partsOf(key);
  return `${kind} ${namespace}/${name}`;
}

/** Writes a line for each finding, as `istioctl analyze` does, with its place and field. Pure. */
export function findingsText(findings: readonly AnalysisFinding[]): string {
  return findings
    .map((finding) => {
      const { code, field, reason } = finding;
      const about = [nameOf(finding), placeOf(finding.origin)]
        .filter((part) => part !== '')
        .join(' ');
      const message = field === '' ? reason : `${field}: ${reason}`;
      return `${titles[findingKinds[code].level]} [${code}] (${about}) ${message}\n`;
    })
    .join('');
}

/** Writes the findings as JSON: the fields of `istioctl analyze -o json`, and `field`. Pure. */
export function findingsJson(findings: readonly AnalysisFinding[]): string {
  const messages = findings.map((finding) => ({
    code: finding.code,
    level: titles[findingKinds[finding.code].level],
    origin: nameOf(finding),
    reference: placeOf(finding.origin),
    field: finding.field,
    message: finding.reason,
  }));
  return `${JSON.stringify(messages, null, 2)}\n`;
}
