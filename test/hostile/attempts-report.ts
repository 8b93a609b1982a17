import type { madeAttempt } from './attempts.ts';
import type { FloodResult } from './floods.ts';

/** An attempt with its outcome. */
export interface MadeAttempt extends Awaited<ReturnType<typeof madeAttempt>> {
  readonly name: string;
}

const cellOf = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map(cellOf).join(' | ')} |`)
    .join('\n');

/** Returns a page about attempts and floods, in Markdown. */
export function attemptsReport(
  attempts: readonly MadeAttempt[],
  floods: readonly FloodResult[],
  machine: string,
): string {
  const attemptRows = attempts.map(({ name, outcome, line, wrong }) => [
    name,
    `${outcome.status}${outcome.name === undefined ? '' : `, for \`${outcome.name}\``}`,
    line,
    wrong === '' ? 'as it must be' : wrong,
  ]);
  const round = (ms: number) => (ms < 10 ? ms.toFixed(1) : String(Math.round(ms)));
  const beside = (before: number, during: number) =>
    `${round(before)} → ${round(during)} (${(during / before).toFixed(1)})`;
  const flooded = floods.map(({ name, outcome, before, during, cpu, wrong }) => [
    name,
    String(outcome.perSecond),
    Object.entries(outcome.statuses)
      .map(([status, count]) => `${status} ${count}`)
      .join(', '),
    beside(before.median, during.median),
    beside(before.worst, during.worst),
    beside(before.change, during.change),
    cpu.toFixed(2),
    wrong === '' ? 'as it must be' : wrong,
  ]);
  return `# Attempts at the secure port

Made by \`npm run attempts\`: ${machine}.

\`pilot-discovery\` has an authority, and an issuer of tokens. A certificate always has the name of its caller,
also if somebody else has made the request.

${table(['Attempt', 'Status', 'Line of the log', 'Result'], attemptRows)}

## Floods by one identity

Each flood lasts 5 s, and does not wait for answers. Meanwhile another identity asks for 50 certificates a second, and a
proxy gets changes of a service. The time of a change includes the debounce of 100 ms. Times are in ms, before → during
the flood, with their ratio. The flood and the measurements run on the same machine.

${table(
  [
    'Flood',
    'Requests a second',
    'Statuses',
    'Others, median',
    'Others, 99 %',
    'A change, median',
    'Processors used',
    'Result',
  ],
  flooded,
)}
`;
}
