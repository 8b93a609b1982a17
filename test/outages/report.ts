import type { OutageReport } from './outage.ts';

/** The last run of each group of faults. */
export type Results = Readonly<Record<string, readonly OutageReport[]>>;

/** The names of groups that need an explanation. */
export const groups = { authority: 'Certificate authority' } as const;

const introductions: Readonly<Partial<Record<string, string>>> = {
  [groups.authority]: `Two sidecars with networks of their own call each other under STRICT mutual TLS, over kept and over new connections. Their certificates come from \`pilot-discovery\`,
which has the rights of \`deploy/kubernetes/control-plane.yaml\` on a real Kubernetes API. Certificates last 60 s and are renewed after 30 s; with a wrong clock they
last 20 min and are renewed after 36 s or less. The fourth column has what \`/ready\`, the log, a metric and the log of an agent say; it is empty if they have nothing to say.
A fault has healed when \`/ready\` and the metrics say nothing any longer, no request for a certificate is open, and a changed rule is in effect in each call, which has the
identities of both. Then each sidecar has to get another certificate.

`,
};

/** Returns a page about all faults, in Markdown. */
export function report(results: Results, machine: string): string {
  const groups = Object.entries(results).map(([group, outages]) => {
    const rows = outages.map(
      ({ name, requests, failed, named, seconds }) =>
        `| ${[name, requests, failed, named === '' ? 'nothing is wrong' : named.replaceAll('|', '\\|'), `${seconds} s`].join(' | ')} |`,
    );
    return `## ${group}

${introductions[group] ?? ''}| What happens | Requests | Failed | What \`/ready\` and the log say | Healed after |
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
