import { deviations, type Way } from './deviations.ts';
import type { KindVerdict } from './envoy-verdicts.ts';
import type { CertificateKind } from './kinds.ts';
import { ownVerdict } from './own-verdicts.ts';

/** The verdicts of Envoy about each kind. */
export type Verdicts = Readonly<Record<string, Readonly<Record<Way, KindVerdict>>>>;

/**
 * The compared verdicts. Before a restart the agent checks only pairs, and Envoy checks all files.
 */
export const columns = [
  { way: 'restart', part: 'pair' },
  { way: 'push', part: 'pair' },
  { way: 'push', part: 'roots' },
] as const;

const words = (verdict: string) => (verdict === '' ? 'ok' : 'refused');

/** Returns a page about all kinds, in Markdown. */
export function report(kinds: readonly CertificateKind[], verdicts: Verdicts, now: number): string {
  const rows = kinds.map((kind) => {
    const agentVerdict = ownVerdict(kind, now);
    const cells = columns.flatMap(({ way, part }) => [
      words(verdicts[kind.name]?.[way][part] ?? ''),
      words(agentVerdict[way][part]),
    ]);
    const reasons =
      columns.map(({ way, part }) => agentVerdict[way][part]).find((reason) => reason !== '') ?? '';
    return [
      kind.name,
      ...cells,
      reasons.replace(/ \(subject .*\):/, ':').replace(/ \w{3} \d+ [\d:]+ \d{4} GMT/, ' …'),
    ].join(' | ');
  });
  return `# Kinds of certificate files

What \`npm run certificates\` has written. Each kind of file is given to a real Envoy: by \`--mode validate\`, and over
SDS, where the answer is an ACK or a NACK. Beside it is what the agent says of it before Envoy has it.

| Kind | Pair at a restart: Envoy | Agent | Pair by push: Envoy | Agent | Roots by push: Envoy | Agent | What the agent says |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.map((row) => `| ${row} |`).join('\n')}

## Where the agent differs, and why

${deviations.map(({ kind, ways, because }) => `- ${kind} (${ways.join(', ')}): ${because}.`).join('\n')}
`;
}
