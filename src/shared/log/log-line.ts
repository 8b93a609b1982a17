import type { Given, Sentence, Sentences } from './catalogue/sentence.ts';
import { type LogEvent, logEvents } from './log-event.ts';

/** One line of the log. `msg` is a text for people, and may change; programs read the fields. */
export interface LogLine {
  readonly level: Sentence['level'];
  readonly event: LogEvent;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** The lowest level of the lines that are written; `none`: no lines at all. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'none';

/**
 * Returns the line about an event, with the text of the catalogue. If the event has several texts,
 * `given` begins with the key of one of them. The values that a text needs follow. Pure.
 */
export function line<Event extends LogEvent>(
  event: Event,
  fields: Readonly<Record<string, unknown>> = {},
  ...given: Given<(typeof logEvents)[Event]>
): LogLine {
  const [{ level, msg }, values] = sentence(logEvents[event], given);
  return { level, event, msg: typeof msg === 'string' ? msg : msg(...values), ...fields };
}

/** Chooses the text. The types of `line` ensure that the given values fit. */
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
