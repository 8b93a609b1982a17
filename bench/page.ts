import { cpus } from 'node:os';
import { format } from 'prettier';
import { table } from '../scripts/docs/markdown.ts';

/** What a benchmark has measured, for a reader. */
export interface Report {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** How it was measured: rounds, figures, and what was left out. */
  readonly notes: readonly string[];
}

/** A report that was kept, and on what it was measured. */
export interface KeptReport extends Report {
  readonly machine: string;
}

/** What each benchmark is about, in the order of the page. */
export const titles = {
  start: 'Start and memory',
  profile: 'Where the time of a start goes',
  load: 'Requests during hot restarts',
  pod: 'A pod of a real mesh',
  sds: 'From a change of the files to the first client that is shown it',
  sources: 'A folder of 10,000 files as a source',
  status: 'The status port under load',
} as const;

export type BenchName = keyof typeof titles;

/** A page of Markdown with all reports that were kept. */
export async function page(kept: Readonly<Partial<Record<BenchName, KeptReport>>>): Promise<string> {
  const names = Object.keys(titles) as BenchName[];
  const sections = names.flatMap((name) => {
    const report = kept[name];
    return report === undefined ? [] : [`## ${titles[name]}`, '', `\`npm run bench -- ${name}\`, on ${report.machine}.`, '', table(report.columns, report.rows), '', ...report.notes.flatMap((note) => [note, ''])]; // prettier-ignore
  });
  const text = ['# Benchmarks', '', 'Written by `npm run bench -- --write`. All contenders run in turns, on one machine, in one run.', '', ...sections]; // prettier-ignore
  return format(text.join('\n'), { parser: 'markdown', proseWrap: 'always', printWidth: 120 });
}

/** What a report is measured on. */
export function machine(envoy: string): string {
  return `${cpus().length} cores (${process.arch}), Node ${process.versions.node}, Envoy ${envoy}`;
}
