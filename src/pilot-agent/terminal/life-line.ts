import type { EpochReport } from '../report/epoch-report.ts';
import type { Past } from '../report/shown-past.ts';
import { hasCrashed } from './epoch-words.ts';
import type { Paint } from '../../shared/log/paint.ts';

type Phase = 'none' | 'starting' | 'live' | 'draining' | 'crash' | 'end';

/** The symbol and the style of each phase of a life. */
const drawn = {
  none: [' ', 'dim'],
  starting: ['░', 'cyan'],
  live: ['█', 'green'],
  draining: ['▒', 'yellow'],
  crash: ['×', 'red'],
  end: ['▪', 'dim'],
} as const;

/** Explains the symbols. */
export const lifeLegend = `${drawn.starting[0]} starting  ${drawn.live[0]} live  ${drawn.draining[0]} draining  ${drawn.end[0]} end  ${drawn.crash[0]} crash`;

/** Draws the life of an epoch over a part of the past, in exactly `width` columns. Pure. */
export function lifeLine(
  epoch: EpochReport,
  { from, to }: Past,
  width: number,
  paint: Paint,
): string {
  const step = (to - from) / Math.max(1, width);
  const phases = Array.from({ length: Math.max(0, width) }, (_, index) =>
    phaseIn(epoch, from + index * step, from + (index + 1) * step),
  );
  return pieces(phases)
    .map(([phase, length]) => {
      const [sign, style] = drawn[phase];
      return paint(style, sign.repeat(length));
    })
    .join('');
}

const ms = (time: string | undefined) => (time === undefined ? Infinity : Date.parse(time));

/**
 * Returns the phase that a column of time shows: the end of the process if it is in the column,
 * otherwise the phase at the right edge of the column.
 */
function phaseIn(epoch: EpochReport, from: number, to: number): Phase {
  const [launched, live, drained, ended] = [
    epoch.launchedAt,
    epoch.liveAt,
    epoch.toldToDrainAt,
    epoch.endedAt,
  ].map(ms) as [number, number, number, number];
  if (launched > to || ended < from) return 'none';
  if (ended <= to) return hasCrashed(epoch) ? 'crash' : 'end';
  if (drained <= to) return 'draining';
  return live <= to ? 'live' : 'starting';
}

function pieces(phases: readonly Phase[]): readonly (readonly [Phase, number])[] {
  return phases.reduce<[Phase, number][]>((runs, phase) => {
    const last = runs.at(-1);
    if (last?.[0] === phase) last[1] += 1;
    else runs.push([phase, 1]);
    return runs;
  }, []);
}
