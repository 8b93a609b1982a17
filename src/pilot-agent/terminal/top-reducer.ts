import type { LiveEvent } from '../report/live-events.ts';
import type { EpochReport } from '../report/epoch-report.ts';
import { topKey } from './top-keys.ts';
import type { TopEffect, TopEvent, TopState } from './top-model.ts';

type Step = readonly [TopState, readonly TopEffect[]];

/** Ten minutes: one report a second. */
const keptReports = 600;
const keptLines = 5_000;
const keptEpochs = 1_000;

/** What is shown after something has happened, and what is to be done about it. Pure. */
export function reduceTop(state: TopState, event: TopEvent): Step {
  switch (event.type) {
    case 'key':
      return topKey(state, event.key);
    case 'resized':
      return [{ ...state, size: event.size, drawing: state.drawing + 1 }, []];
    case 'clock':
      return [{ ...state, now: event.now }, []];
    case 'connected': // all that is known is told again
      return [
        {
          ...state,
          link: { kind: 'connected' },
          epochs: [],
          traffic: [],
          service: undefined,
          log: [],
        },
        [],
      ];
    case 'away':
      return [{ ...state, link: away(state, event.reason) }, []];
    case 'heard':
      return [heard(state, event.live), []];
    case 'answered':
      return [{ ...state, told: `${event.order}: ${event.answer}` }, []];
    case 'suspend-requested':
      return [state, [{ type: 'suspend' }]];
    case 'resumed':
      return [{ ...state, drawing: state.drawing + 1 }, [{ type: 'open' }]];
    case 'end-requested':
      return [{ ...state, isOver: true }, []];
  }
}

function away({ link, now }: TopState, reason: string): TopState['link'] {
  return { kind: 'away', reason, since: link.kind === 'away' ? link.since : now };
}

function heard(state: TopState, live: LiveEvent): TopState {
  switch (live.event) {
    case 'report':
      return { ...state, report: live.data };
    case 'epochs':
      return { ...state, epochs: merged(state.epochs, live.data) };
    case 'traffic':
      return { ...state, traffic: [...state.traffic, ...live.data].slice(-keptReports) };
    case 'service':
      return { ...state, service: live.data };
    case 'log':
      return { ...state, log: [...state.log, ...live.data].slice(-keptLines) };
  }
}

/** A newer word of an epoch takes the place of the older one. */
function merged(
  before: readonly EpochReport[],
  told: readonly EpochReport[],
): readonly EpochReport[] {
  const all = new Map([...before, ...told].map((epoch) => [epoch.epoch, epoch]));
  return [...all.values()].sort((one, other) => one.epoch - other.epoch).slice(-keptEpochs);
}
