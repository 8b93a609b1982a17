import { map, type Observable } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { ownMember } from '../shared/text/own-member.ts';

/** Marbles, or marbles and what their signs stand for. */
type Diagram = string | readonly [marbles: string, values: Readonly<Record<string, unknown>>];

type Subscriptions = ReturnType<RunHelpers['cold']>['subscriptions'];

/** What is expected of the streams of `T`, by their names without the $. */
type Picture<T> = {
  readonly [Name in keyof T & string as Name extends `${infer Stream}$` ? Stream : never]?: Diagram;
} & {
  /** When those are let go of that have the agent running. Never if it is left out. */
  readonly unsub?: string;
  /** The subscriptions of processes, by their epochs. */
  readonly lives?: Readonly<Record<number, string>>;
};

/**
 * These have the agent running. The others are what was seen of it, and are looked at to the end.
 */
const running: readonly string[] = ['serving', 'outcome', 'by'];

/** Each sign of a diagram stands for itself. */
function lettersOf(diagram: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(diagram).map((sign) => [sign, sign]));
}

/**
 * Expects all streams of something drawn, as an agent, to be as one picture shows them. The values
 * of one that is not are shown with its name.
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
    // In what differs, a reader finds the name.
    const named$ = stream$.pipe(map((value) => ({ [name]: value })));
    m.expectObservable(named$, running.includes(name) ? unsub : undefined).toBe(
      marbles,
      Object.fromEntries(named),
    );
  }
  for (const [epoch, diagram] of Object.entries(lives))
    m.expectSubscriptions(drawn.lives[Number(epoch)] ?? []).toBe(diagram);
}
