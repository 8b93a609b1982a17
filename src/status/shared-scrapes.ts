import type { SchedulerLike, Unsubscribable } from 'rxjs';

/**
 * Scrapes of one kind that come together are answered by one: `kind` is all that an answer depends
 * on.
 */
export interface SharedScrapes {
  /**
   * Resolves with the whole answer of a scrape that has just begun, or with undefined if there is
   * nothing to share. Undefined where none has begun.
   */
  follow(kind: string): Promise<string | undefined> | undefined;
  /**
   * An answer begins now, that others can follow until its reader, by `unsubscribe`, says that he
   * is no longer there.
   */
  lead(kind: string): LeadingScrape;
}

interface LeadingScrape extends Unsubscribable {
  /** Passes on the pieces of the answer to its reader. */
  passOn(pieces: AsyncIterable<string>): AsyncGenerator<string>;
}

interface Lead {
  readonly since: number;
  readonly whole: Promise<string | undefined>;
}

/**
 * For so many ms after its begin a scrape can be followed: what it reads later is as new as what a
 * scrape of its own would read.
 */
const followable = 100;

/**
 * Answers of up to `most` characters are shared; a larger one is passed on and forgotten. Makes a
 * memory of its own.
 */
export function sharedScrapes(most: number, scheduler: SchedulerLike): SharedScrapes {
  const leads = new Map<string, Lead>();
  return {
    follow(kind) {
      const lead = leads.get(kind);
      return lead !== undefined && scheduler.now() - lead.since <= followable ? lead.whole : undefined;
    },
    lead(kind) {
      let settle: (whole: string | undefined) => void = () => undefined;
      const whole = new Promise<string | undefined>((resolve) => (settle = resolve));
      const lead: Lead = { since: scheduler.now(), whole };
      leads.set(kind, lead);
      const end = (text: string | undefined) => {
        settle(text);
        if (leads.get(kind) === lead) leads.delete(kind);
      };
      return { passOn: (pieces) => passOn(pieces, most, end), unsubscribe: () => end(undefined) };
    },
  };
}

/**
 * Tells `end` the whole text, or undefined as soon as it is too long. Only the first time counts.
 */
async function* passOn(pieces: AsyncIterable<string>, most: number, end: (whole: string | undefined) => void): AsyncGenerator<string> {
  let whole: string | undefined = '';
  for await (const piece of pieces) {
    if (whole !== undefined) whole = whole.length + piece.length > most ? undefined : whole + piece;
    if (whole === undefined) end(undefined);
    yield piece;
  }
  end(whole);
}
