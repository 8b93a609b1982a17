import { map, type Observable, type OperatorFunction, scan } from 'rxjs';
import { eventIn } from '../../shared/http/server-sent-events.ts';
import type { LiveEvent } from '../report/live-events.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

const names: readonly string[] = [
  'report',
  'epochs',
  'traffic',
  'service',
  'log',
] satisfies LiveEvent['event'][];

/**
 * The events in the pieces of a stream of server-sent events, wherever it was cut; those of names
 * that are not known are left out. Emits for each piece what became whole with it. Errors if the
 * data of an event is no JSON.
 */
export function eventsIn(): OperatorFunction<string, readonly LiveEvent[]> {
  return (source: Observable<string>) =>
    source.pipe(
      scan(
        ({ rest }, piece) => {
          const blocks = `${rest}${piece}`.split('\n\n');
          return { rest: blocks.pop() ?? '', blocks };
        },
        { rest: '', blocks: [] as readonly string[] },
      ),
      map(({ blocks }) => blocks.flatMap(eventOf)),
    );
}

function eventOf(block: string): readonly LiveEvent[] {
  return eventIn(block).flatMap(({ event, data }) =>
    names.includes(event) ? [{ event, data: parseJson(data) } as LiveEvent] : [],
  );
}
