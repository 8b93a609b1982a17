import { map, type Observable } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { ownMember } from '../shared/text/own-member.ts';

/** Marbles, or marbles and the values of their signs. */
type Diagram = string | readonly [marbles: string, values: Readonly<Record<string, unknown>>];

type Subscriptions = ReturnType<RunHelpers['cold']>['subscriptions'];

/** The expected streams of `T`, by their names without the $. */
type Picture<T> = {
  readonly [Name in keyof T & string as Name extends `${infer Stream}$` ? Stream : never]?: Diagram;
} & {
  /** When the streams that run the agent are unsubscribed. Never if it is left out. */
  readonly unsub?: string;
  /** The subscriptions of processes, by their epochs. */
  readonly lives?: Readonly<Record<number, string>>;
};

/** These streams run the agent. The other streams record it, and `unsub` does not end them. */
const running: readonly string[] = ['serving', 'outcome', 'by'];

/** Maps each sign of a diagram to itself. */
function lettersOf(diagram: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(diagram).map((sign) => [sign, sign]));
}

/**
 * Expects all streams of a drawn agent to match one picture. The values of a stream that differs
 * are shown with its name.
 */
export function play<T extends { readonly lives: readonly Subscriptions[] }>(
  m: RunHelpers,
  drawn: T,
  picture: Picture<T>,
): void {
  const { unsub, lives = {}, ...expected } = picture;
  const streams = drawn as object as Readonly<Record<string, Observable<unknown>>>;
  for (const [name, diagram] of Object.entries(
    expected as object as Readonly<Record<string, Diagram>>,
  )) {
    const stream$ = ownMember(streams, `${name}$`);
    if (stream$ === undefined) throw new Error(`there is no stream ${name}$`);
    const [marbles, values] = typeof diagram === 'string' ? [diagram, lettersOf(diagram)] : diagram;
    const named = Object.entries(values).map(
      ([letter, value]) => [letter, { [name]: value }] as const,
    );
    // The name is part of each value, so that a difference shows it.
    const named$ = stream$.pipe(map((value) => ({ [name]: value })));
    m.expectObservable(named$, running.includes(name) ? unsub : undefined).toBe(
      marbles,
      Object.fromEntries(named),
    );
  }
  for (const [epoch, diagram] of Object.entries(lives))
    m.expectSubscriptions(drawn.lives[Number(epoch)] ?? []).toBe(diagram);
}
