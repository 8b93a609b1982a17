import type { EditsReport } from './run-edits.ts';

/** The figures of the last run of each seed. */
export type Results = Readonly<Record<string, EditsReport>>;

/** Returns a page about all seeds, in Markdown. */
export function report(results: Results, machine: string): string {
  const seeds = Object.entries(results);
  const rows = seeds.map(
    ([seed, { edits, neutral, requests, slowestEffect, slowestRotation, seconds, violations }]) =>
      [
        seed,
        edits,
        neutral,
        requests,
        `${slowestEffect} ms`,
        `${slowestRotation} ms`,
        `${seconds} s`,
        violations.length,
      ].join(' | '),
  );
  const counted = (pick: (figures: EditsReport) => Readonly<Record<string, number>>) => {
    const sums = new Map<string, number>();
    for (const [, figures] of seeds)
      for (const [name, count] of Object.entries(pick(figures)))
        sums.set(name, (sums.get(name) ?? 0) + count);
    return [...sums]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, count]) => `| ${name} | ${count} |`)
      .join('\n');
  };
  const violations = seeds.flatMap(([, figures]) => figures.violations);
  return `# Edits under load

\`npm run edits -- --seed N --write\` has written this page (${machine}). A control plane, two sidecars and a gateway are over a folder; clients send requests
to 8 hosts through the sidecar and the gateway, two of them over HTTPS too, over kept and over new connections. Each edit says before it which host may change, and to which status.
Any other answer is a violation. The gateway gets another certificate by push: a new Envoy is a violation too.

| Seed | Edits | No answer changes | Requests | Slowest effect | Slowest rotation | Time | Violations |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.map((row) => `| ${row} |`).join('\n')}

## The edits

| Kind | Edits |
| --- | --- |
${counted(({ byKind }) => byKind)}

## The answers

| Status | Requests |
| --- | --- |
${counted(({ byStatus }) => byStatus)}
${violations.length === 0 ? '' : `\n## Violations\n\n${violations.map((text) => `- ${text}`).join('\n')}\n`}`;
}
