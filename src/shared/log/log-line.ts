import type { Given, Sentence, Sentences } from './catalogue/sentence.ts';
import { type LogEvent, logEvents } from './log-event.ts';

/** One line of the log. `msg` is a constant; what varies is in the fields. */
export interface LogLine {
  readonly level: Sentence['level'];
  readonly event: LogEvent;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** From which level on lines are written; `none`: none at all. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'none';

/**
 * The line that reports an event, as the catalogue says it. Where it has several sentences for the
 * event, or makes one, their key and what it is made of are `given`. Pure.
 */
export function line<Event extends LogEvent>(
  event: Event,
  fields: Readonly<Record<string, unknown>> = {},
  ...given: Given<(typeof logEvents)[Event]>
): LogLine {
  const [{ level, msg }, values] = sentence(logEvents[event], given);
  return { level, event, msg: typeof msg === 'string' ? msg : msg(...values), ...fields };
}

/** The types of `line` have seen to it that what is given fits. */
function sentence(
  sentences: Sentences,
  given: readonly unknown[],
): readonly [Sentence, values: readonly never[]] {
  if (isOne(sentences)) return [sentences, given as readonly never[]];
  const [key, ...values] = given as readonly ['a key', ...(readonly never[])];
  return [sentences[key] as Sentence, values];
}

function isOne(sentences: Sentences): sentences is Sentence {
  return 'msg' in sentences;
}
