import { type Key, levels, spans, type TopEffect, type TopState } from './top-model.ts';

type Step = readonly [TopState, readonly TopEffect[]];

/** In characters. */
const longestFilter = 200;

/**
 * Returns the state after a key, and the effects. Ctrl-C always ends, Ctrl-Z always suspends. Pure.
 */
export function topKey(state: TopState, key: Key): Step {
  if (key.isCtrl && key.name === 'c') return [{ ...state, isOver: true }, []];
  if (key.isCtrl && key.name === 'z') return [state, [{ type: 'suspend' }]];
  if (key.isCtrl && key.name === 'l') return [{ ...state, drawing: state.drawing + 1 }, []];
  switch (state.mode) {
    case 'watch':
      return [watching({ ...state, lastResult: undefined }, key), []];
    case 'filter':
      return [filtering(state, key), []];
    case 'help':
      return [{ ...state, mode: 'watch' }, []];
    case 'drain':
    case 'restart': {
      const isSure = key.name === 'y' && !key.isCtrl;
      return [
        { ...state, mode: 'watch', lastResult: isSure ? `${state.mode}: asked` : undefined },
        isSure ? [{ type: 'order', order: state.mode }] : [],
      ];
    }
  }
}

function watching(state: TopState, { name, text, isCtrl }: Key): TopState {
  if (isCtrl) return state;
  switch (text === '/' || text === '?' ? text : name) {
    case 'q':
      return { ...state, isOver: true };
    case '?':
    case 'h':
      return { ...state, mode: 'help' };
    case '/':
      return { ...state, mode: 'filter' };
    case 'd':
      return { ...state, mode: 'drain' };
    case 'r':
      return { ...state, mode: 'restart' };
    case 'l':
      return { ...state, level: after(levels, state.level) };
    case 't':
      return { ...state, span: after(spans, state.span) };
    case 'w':
      return { ...state, long: state.long === 'cut' ? 'whole' : 'cut' };
    case 'up':
    case 'k':
      return { ...state, selected: neighbour(state, 1) };
    case 'down':
    case 'j':
      return { ...state, selected: neighbour(state, -1) };
    case 'escape':
      return { ...state, selected: undefined, filter: '' };
    default:
      return state;
  }
}

/** Returns the next item; after the last one, the first. */
function after<T>(items: readonly T[], item: T): T {
  return items[(items.indexOf(item) + 1) % items.length] ?? item;
}

/**
 * The newest epoch is at the top. If none is selected, up selects the oldest, and down the newest.
 */
function neighbour({ epochs, selected }: TopState, step: 1 | -1): number | undefined {
  const index = epochs.findIndex(({ epoch }) => epoch === selected);
  const next =
    index < 0
      ? step > 0
        ? 0
        : epochs.length - 1
      : Math.min(epochs.length - 1, Math.max(0, index + step));
  return epochs[next]?.epoch;
}

function filtering(state: TopState, { name, text, isCtrl }: Key): TopState {
  if (name === 'return' || name === 'enter') return { ...state, mode: 'watch' };
  if (name === 'escape') return { ...state, mode: 'watch', filter: '' };
  if (name === 'backspace')
    return { ...state, filter: Array.from(state.filter).slice(0, -1).join('') };
  if (isCtrl && name === 'u') return { ...state, filter: '' };
  const isText = !isCtrl && /^[^\p{Cc}]+$/u.test(text) && state.filter.length < longestFilter;
  return isText ? { ...state, filter: state.filter + text } : state;
}
