import { deviations } from './deviations.ts';
import { isRefused, type Verdicts } from './verdicts.ts';

const kindOf = (name: string) => name.split(':')[0] ?? '';

/** Returns the page that the script writes. Pure. */
export function report(verdicts: Verdicts): string {
  const named = new Set(deviations.flatMap(({ cases }) => cases));
  const all = Object.entries(verdicts);
  const rows = [...new Set(all.map(([name]) => kindOf(name)))].map((kind) => {
    const verdictsOfKind = all.filter(([name]) => kindOf(name) === kind);
    const refused = verdictsOfKind.filter(([, verdict]) => isRefused(verdict)).length;
    return `| ${kind} | ${verdictsOfKind.length} | ${refused} | ${verdictsOfKind.filter(([name]) => named.has(name)).length} |`;
  });
  return [
    '# What Istio says of a resource',
    '',
    '`npm run verdicts` writes this page and `verdicts.json`: each case of `cases/` is shown to the validating webhook of a',
    'real istiod 1.26, and to a real Kubernetes API with its schemas. `npm test` compares pilot-discovery with it.',
    '',
    '| Kind | Cases | Istio refuses | pilot-discovery differs |',
    '| --- | --: | --: | --: |',
    ...rows,
    '',
    '## Where pilot-discovery differs',
    ...deviations.flatMap(({ because, cases }) => [
      '',
      `${because.slice(0, 1).toUpperCase()}${because.slice(1)}:`,
      '',
      ...cases.map((name) => `- ${name}`),
    ]),
    '',
  ].join('\n');
}
