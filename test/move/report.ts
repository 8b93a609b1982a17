import type { StepReport } from './step.ts';

/** The last run of each group. */
export interface Results {
  readonly istiod?: readonly StepReport[];
  readonly root?: readonly StepReport[];
}

/** Returns a page about all steps, in Markdown. */
export function report({ istiod = [], root = [] }: Results, machine: string): string {
  const violations = [...istiod, ...root].flatMap((step) => step.violations);
  return `# Moves between control planes

\`npm run move -- --write\` has written this page (${machine}). Three namespaces of a real Kubernetes API have one app each: \`shop\` and \`depot\` run
our agent, \`bank\` runs Istio's own agent 1.30. Each pod has a network of its own. Mutual TLS is STRICT, and each app calls the two others, over kept and over new connections.
After each step, each proxy has to be connected to the named control plane, a changed rule has to be in effect in each call, each call has to have the identities of both apps,
and each pod has to refuse plain text. A request fails if its status is not 200.

## From istiod to \`pilot-discovery\`, and back

istiod 1.26 and \`pilot-discovery\` have the root of one Secret \`cacerts\`. Certificates last 60 s. A namespace moves by a new pod: it starts, its endpoint is announced when it is ready, and the
pod before it drains.

${tableOf(istiod)}

## The root is replaced

\`pilot-discovery\` runs alone. Certificates last 60 s. An agent asks for the next certificate when half of the life is over, so a certificate that lasts 30 s
leaves 15 s for that. With \`--lifetime 30s\`, and 0.6 of a processor for everything (a control group), no request failed. With 0.3 of one, a renewal took 2 to 11 s, and one
36 s, because two Envoys started meanwhile. Two certificates expired before the next ones came; the logs had \`certificate.expired\`, and 49 requests got 503.

${tableOf(root)}
${violations.length === 0 ? '' : `\n## Violations\n\n${violations.map((text) => `- ${text}`).join('\n')}\n`}`;
}

const tableOf = (
  steps: readonly StepReport[],
) => `| What is done | Requests | Failed | Seconds | What else was seen |
| --- | --- | --- | --- | --- |
${steps
  .map(
    ({ name, requests, failed, seconds, note }) =>
      `| ${[name, requests, failed, seconds, note].join(' | ')} |`,
  )
  .join('\n')}`;
