// Why: docs/decisions/083-four-libraries-were-weighed.md
import { defer, map, type OperatorFunction } from 'rxjs';

/** One event of a stream of server-sent events. */
export interface ServerSentEvent {
  /** The name; `message` if it has none. */
  readonly event: string;
  readonly data: string;
}

/**
 * Emits for each piece of a `text/event-stream`, wherever it was cut, the events that it completes:
 * perhaps none. Leaves out comments, and an incomplete event at the end. Errors with the source,
 * and if an event has more than `largest` characters.
 */
export function serverSentEvents(
  largest = 64 << 20,
): OperatorFunction<Uint8Array, readonly ServerSentEvent[]> {
  return (source) =>
    defer(() => {
      const decoder = new TextDecoder();
      const pieces: string[] = [];
      let size = 0;
      return source.pipe(
        map((bytes) => {
          const piece = decoder.decode(bytes, { stream: true }).replaceAll('\r', '');
          if (piece === '') return [];
          const last = pieces.at(-1);
          size += piece.length;
          pieces.push(piece);
          if (size > largest) throw new Error(`an event has more than ${largest} characters`);
          // Joined only if an event ends: otherwise each new piece would cause a search through all
          // pieces before it.
          if (!piece.includes('\n\n') && !(piece.startsWith('\n') && last?.endsWith('\n') === true))
            return [];
          const blocks = pieces.splice(0).join('').split('\n\n');
          const rest = blocks.pop() ?? '';
          if (rest !== '') pieces.push(rest);
          size = rest.length;
          return blocks.flatMap(eventIn);
        }),
      );
    });
}

/**
 * Returns the event of a block, which is the text between two empty lines; none without data. Pure.
 */
function eventIn(block: string): readonly ServerSentEvent[] {
  const fields = block.split('\n').map((line) => /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []);
  const values = (name: string) =>
    fields.flatMap(([, field, value = '']) => (field === name ? [value] : []));
  const data = values('data');
  return data.length === 0
    ? []
    : [{ event: values('event').at(-1) ?? 'message', data: data.join('\n') }];
}
