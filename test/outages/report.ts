import type { OutageReport } from './outage.ts';

/** The last run of each group of faults. */
export type Results = Readonly<Record<string, readonly OutageReport[]>>;

/** A page about all faults, in Markdown. */
export function report(results: Results, machine: string): string {
  const groups = Object.entries(results).map(([group, outages]) => {
    const rows = outages.map(
      ({ name, requests, failed, named, seconds }) =>
        `| ${[name, requests, failed, named === '' ? 'nothing is wrong' : named.replaceAll('|', '\\|'), `${seconds} s`].join(' | ')} |`,
    );
    return `## ${group}

| What happens | Requests | Failed | What \`/ready\` and the log say | Healed after |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
  });
  const violations = Object.values(results)
    .flat()
    .flatMap((outage) => outage.violations);
  return `# Outages under load

\`npm run outages -- --write\` has written this page (${machine}). Two sidecars and a gateway get their configuration from \`pilot-discovery\`, which reads a real
registry. While the registry has a fault, clients send requests to six hosts, over kept and over new connections. A request fails if its status is not 200.
A fault has healed when \`/ready\` and the metric \`pilot_source_up\` say nothing any longer, and a change that was made after the fault takes effect.

${groups.join('\n')}${violations.length === 0 ? '' : `\n## Violations\n\n${violations.map((text) => `- ${text}`).join('\n')}\n`}`;
}
