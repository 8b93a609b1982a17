import type { Taken } from './control-plane.ts';

/** The outcome of an attack. Memory is in MiB. */
export interface Outcome {
  readonly name: string;
  /** The duration of a change for the healthy proxy during the attack. */
  readonly change: Taken;
  /** The resident memory of the control plane then. */
  readonly during: number;
  /** The memory in use before, and a minute later. */
  readonly before: number;
  readonly after: number;
  readonly isTold: boolean;
  readonly exitCode: number | undefined;
}

/** Returns the reason why an attack does not hold; undefined if it holds. */
export function failureOf({
  change,
  before,
  after,
  isTold,
  exitCode,
}: Outcome): string | undefined {
  if (exitCode !== undefined) return `it ended with ${exitCode}`;
  if (!isTold) return 'nothing was said of it';
  if (change.own > 500) return `it worked ${change.own} ms before the change was there`;
  return after > before * 1.1 ? `it keeps ${Math.round(after - before)} MiB` : undefined;
}

/** Returns a page about all attacks, in Markdown, and the names of those that did not hold. */
export function report(
  outcomes: readonly Outcome[],
  machine: string,
): { readonly text: string; readonly failed: readonly string[] } {
  const lines = outcomes.map((outcome) => {
    const { name, change, during, before, after } = outcome;
    const cells = [
      name,
      change.own,
      Math.round(change.clock),
      Math.round(during),
      before.toFixed(1),
      after.toFixed(1),
    ];
    return `| ${[...cells, failureOf(outcome) ?? 'holds'].join(' | ')} |`;
  });
  const text = `# What one client or one file does to a control plane

Made by \`npm run hostile\`: ${machine}.

Each attack meets a \`pilot-discovery\` of its own, with 500 services and one proxy that behaves. During the attack a
service is changed. The attack holds if the program goes on, says what it has refused, works no longer than 500 ms
before the proxy has the change, and if a minute later it has no more than 10 % more memory in use than before. The code
that V8 has compiled is not counted. The clock says how long the proxy waited, beside whatever else the machine did; 100 ms of it are the debounce.

| Attack | Own time until the change, ms | By the clock, ms | Resident meanwhile, MiB | In use before, MiB | A minute later, MiB | Result |
| --- | --: | --: | --: | --: | --: | --- |
${lines.join('\n')}
`;
  return {
    text,
    failed: outcomes.filter((outcome) => failureOf(outcome) !== undefined).map(({ name }) => name),
  };
}
