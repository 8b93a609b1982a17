import type { ChaosReport } from './run-chaos.ts';

type Figures = Omit<ChaosReport, 'log'>;

/** The figures of each seed, over all its runs. */
export type Results = Readonly<Record<string, Figures>>;

/** Adds the figures of a run to those of the run that it continued. */
export function plus(before: Figures | undefined, now: Figures): Figures {
  if (before === undefined) return now;
  const kinds = new Set([
    ...Object.keys(before.longestOutages),
    ...Object.keys(now.longestOutages),
  ]) as Set<keyof Figures['longestOutages']>;
  const largest = (figureOf: (figures: Figures) => number | undefined) =>
    Math.max(figureOf(before) ?? 0, figureOf(now) ?? 0);
  return {
    violations: [...before.violations, ...now.violations],
    minutes: before.minutes + now.minutes,
    events: before.events + now.events,
    requests: before.requests + now.requests,
    excused: before.excused + now.excused,
    epochs: before.epochs + now.epochs,
    rescues: before.rescues + now.rescues,
    longestRescue: largest(({ longestRescue }) => longestRescue),
    longestOutages: Object.fromEntries(
      [...kinds].map((kind) => [kind, largest(({ longestOutages }) => longestOutages[kind])]),
    ),
    longestRotation: largest(({ longestRotation }) => longestRotation),
    mostMemory: largest(({ mostMemory }) => mostMemory),
    mostFiles: largest(({ mostFiles }) => mostFiles),
  };
}

/** Returns a page about all seeds, in Markdown. */
export function report(results: Results, machine: string): string {
  const seeds = Object.entries(results);
  const all = seeds.map(([, figures]) => figures).reduce((sum, figures) => plus(sum, figures));
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  const rows = seeds.map(
    ([
      seed,
      {
        minutes,
        events,
        requests,
        excused,
        epochs,
        rescues,
        longestRescue,
        longestRotation,
        violations,
      },
    ]) =>
      [
        seed,
        minutes.toFixed(0),
        events,
        epochs,
        rescues,
        seconds(longestRescue),
        seconds(longestRotation),
        requests,
        excused,
        violations.length,
      ].join(' | '),
  );
  const outages = Object.entries(all.longestOutages)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, ms]) => `| ${kind} | ${seconds(ms)} |`);
  return `# Chaos

What \`npm run chaos -- --seed N --minutes M --resume\` has written (${machine}). Each request counts that failed, but for those while the run itself held an
Envoy or the agent dead or stopped ("excused").

| Seed | Minutes | Events | Epochs | Rescues | Longest rescue | Longest rotation | Requests | Excused | Violations |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
${rows.map((row) => `| ${row} |`).join('\n')}

The most memory that an agent held: ${(all.mostMemory / 2 ** 20).toFixed(0)} MiB; the most files that it had open: ${all.mostFiles}.

## The longest time without an answer

After each kind of event, from when the agent could act, without the pauses of a crash loop. More than 3 s is a violation.

| After | Longest |
| --- | --- |
${outages.join('\n')}
${all.violations.length === 0 ? '' : `\n## Violations\n\n${all.violations.map((text) => `- ${text}`).join('\n')}\n`}`;
}
