import type { CallsReport } from './run-calls.ts';

const rows = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([name, count]) => `| ${name} | ${count} |`)
    .join('\n');

function summed(
  reports: readonly CallsReport[],
  pick: (report: CallsReport) => Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const report of reports)
    for (const [name, count] of Object.entries(pick(report)))
      sums.set(name, (sums.get(name) ?? 0) + count);
  return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns a page about the runs of some seeds, in Markdown. */
export function report(results: ReadonlyMap<number, CallsReport>, machine: string): string {
  const all = [...results.values()];
  const seeds = [...results].map(
    ([seed, { calls, differences, seconds }]) =>
      `| ${seed} | ${calls} | ${differences.length} | ${seconds} s |`,
  );
  const differences = [...results].flatMap(([seed, { differences: list }]) =>
    list.map((difference) => `- Seed ${seed}: \`${JSON.stringify(difference)}\``),
  );
  return `# Calls through proxies of both control planes

\`npm run calls -- --write\` has written this page (${machine}). A seed draws:

- ServiceEntries: ports, protocols, resolution, endpoints or WorkloadEntries
- Gateways: several at one port, hosts of namespaces and wildcards, redirects, TLS that ends or passes
- VirtualServices, DestinationRules and AuthorizationPolicies
- calls, with or without a token or a client certificate

The calls go through the sidecar of a client and through a gateway, some of them to a service behind another sidecar. The proxies are Envoys under
\`pilot-agent\`, first over \`pilot-discovery\`, then over a real istiod. Compared are the status, the application that has answered, the certificate and
the version of TLS, the headers, and the path and headers that the application has received.

| Seed | Calls | Differences | Time |
| --- | --- | --- | --- |
${seeds.join('\n')}

## The answers

| Listener and status (0: no answer) | Calls |
| --- | --- |
${rows(summed(all, ({ byAnswer }) => byAnswer))}

## Listeners for all ports

Calls to \`HTTP_PROXY\` listeners and Unix sockets name a port other than 80. pilot-discovery is compared there with the sidecar's listener for that port
under istiod, because the routes of istiod ignore the port of the host and so find no service:

| Status at istiod's own listeners | Calls |
| --- | --- |
${rows(summed(all, ({ atAllPorts }) => atAllPorts))}
${differences.length === 0 ? '' : `\n## Differences\n\n${differences.join('\n')}\n`}`;
}
