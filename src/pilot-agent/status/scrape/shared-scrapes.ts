// Why: docs/decisions/052-a-large-scrape-waits.md
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
  follow(kind: string): Promise<Answer | undefined> | undefined;
  /**
   * An answer begins now, that others can follow until its reader, by `unsubscribe`, says that he
   * is no longer there.
   */
  lead(kind: string): LeadingScrape;
}

interface LeadingScrape extends Unsubscribable {
  /** Passes on the pieces of the answer to its reader. */
  passOn(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer>;
}

/** In pieces. */
type Answer = readonly Buffer[];

interface Lead {
  readonly since: number;
  readonly whole: Promise<Answer | undefined>;
}

/**
 * For so many ms after its begin a scrape can be followed: what it reads later is as new as what a
 * scrape of its own would read.
 */
const followable = 100;

/**
 * Answers of up to `most` bytes are shared; a larger one is passed on and forgotten. Makes a
 * memory of its own.
 */
export function sharedScrapes(most: number, scheduler: SchedulerLike): SharedScrapes {
  const leads = new Map<string, Lead>();
  return {
    follow(kind) {
      const lead = leads.get(kind);
      return lead !== undefined && scheduler.now() - lead.since <= followable
        ? lead.whole
        : undefined;
    },
    lead(kind) {
      let settle: (whole: Answer | undefined) => void = () => undefined;
      const whole = new Promise<Answer | undefined>((resolve) => (settle = resolve));
      const lead: Lead = { since: scheduler.now(), whole };
      leads.set(kind, lead);
      const end = (whole: Answer | undefined) => {
        settle(whole);
        if (leads.get(kind) === lead) leads.delete(kind);
      };
      return { passOn: (pieces) => passOn(pieces, most, end), unsubscribe: () => end(undefined) };
    },
  };
}

/**
 * Tells `end` the whole answer, or undefined as soon as it is too long. Only the first time counts.
 */
async function* passOn(
  pieces: AsyncIterable<Buffer>,
  most: number,
  end: (whole: Answer | undefined) => void,
): AsyncGenerator<Buffer> {
  let whole: Buffer[] | undefined = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    whole?.push(piece);
    if (size > most) {
      whole = undefined;
      end(undefined);
    }
    yield piece;
  }
  end(whole);
}
