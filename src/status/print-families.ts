import type { MetricFamily } from './metric-family.ts';

/** Families as lines of the text format, without line ends. */
export function printFamilies(families: readonly MetricFamily[]): readonly string[] {
  return families.flatMap(({ name, type, help, samples }) =>
    samples.length === 0
      ? []
      : [
          `# HELP ${name} ${help}`,
          `# TYPE ${name} ${type}`,
          ...samples.map(({ suffix = '', labels = {}, value }) => `${name}${suffix}${printLabels(labels)} ${value}`),
        ],
  );
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

function printLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (sign) => escapes[sign] ?? sign)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
