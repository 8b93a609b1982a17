// Why: docs/decisions/052-a-large-scrape-waits.md
import type { SchedulerLike, Unsubscribable } from 'rxjs';

/**
 * Lets one scrape answer all scrapes of one kind that come together: `kind` is everything that
 * affects the answer.
 */
export interface SharedScrapes {
  /**
   * Resolves with the whole answer of a scrape that has just begun, or with undefined if there is
   * nothing to share. Undefined if none has begun.
   */
  follow(kind: string): Promise<Answer | undefined> | undefined;
  /**
   * Begins an answer that others can follow, until `unsubscribe` reports that its reader has left.
   */
  lead(kind: string): LeadingScrape;
}

interface LeadingScrape extends Unsubscribable {
  /** Passes on the pieces of the answer to its reader. */
  passOn(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer>;
}

/** An answer in pieces. */
type Answer = readonly Buffer[];

interface Lead {
  readonly since: number;
  readonly whole: Promise<Answer | undefined>;
}

/**
 * In ms. A scrape can be followed for this long after its start: what it reads later is as new as
 * in a separate scrape.
 */
const followable = 100;

/**
 * Shares answers of up to `most` bytes; a larger one is passed on and forgotten. Each call makes a
 * separate store.
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
 * Calls `end` with the whole answer, or with undefined as soon as it is too long. Only the first
 * call counts.
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
