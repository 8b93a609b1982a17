import { awaySince, withLiveEvent, type Kept } from '../report/agent-view.ts';
import type { LogReport } from '../report/live-events.ts';
import { topKey } from './top-keys.ts';
import type { TopEffect, TopEvent, TopState } from './top-model.ts';

type Step = readonly [TopState, readonly TopEffect[]];

/** The traffic of ten minutes is kept: one report a second. */
const limits: Kept<LogReport> = {
  epochs: 1_000,
  traffic: 600,
  lines: 5_000,
  lineOf: (line) => line,
};

/** Returns the state after an event, and the effects. Pure. */
export function reduceTop(state: TopState, event: TopEvent): Step {
  switch (event.type) {
    case 'key':
      return topKey(state, event.key);
    case 'resized':
      return [{ ...state, size: event.size, drawing: state.drawing + 1 }, []];
    case 'clock':
      return [{ ...state, now: event.now }, []];
    case 'connected':
      return [{ ...state, link: { kind: 'connected' } }, []];
    case 'away':
      return [{ ...state, link: awaySince(state.link, event.reason, state.now) }, []];
    case 'heard':
      return [{ ...state, ...withLiveEvent<LogReport>(state, event.live, limits) }, []];
    case 'answered':
      return [{ ...state, lastResult: `${event.order}: ${event.answer}` }, []];
    case 'suspend-requested':
      return [state, [{ type: 'suspend' }]];
    case 'resumed':
      return [{ ...state, drawing: state.drawing + 1 }, [{ type: 'open' }]];
    case 'end-requested':
      return [{ ...state, isOver: true }, []];
  }
}
