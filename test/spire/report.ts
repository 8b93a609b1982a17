import type { OutageReport } from '../outages/outage.ts';
import type { Refusal } from './refusals.ts';

/** The last run. */
interface Results {
  readonly version: string;
  readonly lifetime: number;
  readonly faults: readonly OutageReport[];
  readonly refusals: readonly Refusal[];
}

const row = (cells: readonly (string | number)[]) =>
  `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;

/** Returns a page about all faults, in Markdown. */
export function report({ version, lifetime, faults, refusals }: Results, machine: string): string {
  const violations = faults.flatMap((fault) => fault.violations);
  return `# Identities of SPIRE

\`npm run spire -- --write\` has written this page (${machine}, SPIRE ${version}). Two agents with different users get their identities from the workload socket
of a real SPIRE, and have no token and no other certificate. \`pilot-discovery\` has a root of its own, and trusts that of SPIRE by \`--caCertFile\`. The agents get
their configuration on its secure port with their SVIDs. Certificates last ${lifetime} s. Three clients send requests through both sidecars (STRICT), and each request is a
connection of its own between the two. A request fails if its status is not 200. After each fault, both proxies have to be connected, and a changed route has to take effect.

| What happens | Requests | Failed | What the log has | Seconds |
| --- | --- | --- | --- | --- |
${faults.map(({ name, requests, failed, named, seconds }) => row([name, requests, failed, named, seconds])).join('\n')}

## SVIDs of others

Each asks for the configuration of \`client\` in the namespace \`shop\`.

| What is shown | Status | Line of the log |
| --- | --- | --- |
${refusals.map(({ name, status, line }) => row([name, status, line])).join('\n')}
${violations.length === 0 ? '' : `\n## Violations\n\n${violations.map((text) => `- ${text}`).join('\n')}\n`}`;
}
