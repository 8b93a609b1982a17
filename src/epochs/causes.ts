import type { AgentEvent } from './model.ts';
import type { Change } from '../streams/reading.ts';

/** How many epochs there were for a reason. `source` and `part` are those of a {@link Change}. */
export interface Cause extends Pick<Change, 'source' | 'part'> {
  readonly why: string;
  readonly count: number;
}

/** Where there are too many reasons. */
const other = { source: 'other', part: '' };

/**
 * What has changed since the newest epoch, each part once, after one event more. Nothing has if the
 * reading is what that epoch was started from. Pure.
 */
export function changedBy(
  changed: readonly Change[],
  hash: string | undefined,
  event: AgentEvent,
): readonly Change[] {
  if (event.type !== 'config-changed' && event.type !== 'restart-requested') return changed;
  const isOrdered = event.type === 'restart-requested';
  if (!isOrdered && event.reading.hash === hash) return [];
  const more = [...event.reading.changed, ...(isOrdered ? [{ source: event.by, part: '' }] : [])];
  return more.reduce((all, change) => {
    const earlier = all.find((one) => isSame(one, change));
    const merged = earlier?.from === undefined ? change : { ...change, from: earlier.from };
    return [...all.filter((one) => one !== earlier), merged];
  }, changed);
}

/** What has changed, in a few words. Pure. */
export function changeText({ source, part, from, to }: Change): string {
  const name = part === '' ? source : `${source} ${part}`;
  return from === undefined && to === undefined
    ? name
    : `${name}: ${from ?? 'none'} → ${to ?? 'none'}`;
}

/**
 * One epoch more for its reasons, of which there are `most`, and beyond them `other` for each
 * `why`. Pure.
 */
export function withCauses(
  causes: readonly Cause[],
  why: string,
  changed: readonly Change[],
  most: number,
): readonly Cause[] {
  const reasons = changed.length === 0 ? [{ source: '', part: '' }] : changed;
  return reasons.reduce((all, { source, part }) => {
    const same = (reason: Pick<Change, 'source' | 'part'>) =>
      all.find((cause) => cause.why === why && isSame(cause, reason));
    const found = same({ source, part }) ?? (all.length < most ? undefined : same(other));
    if (found !== undefined)
      return all.map((cause) => (cause === found ? { ...cause, count: cause.count + 1 } : cause));
    return [...all, { why, ...(all.length < most ? { source, part } : other), count: 1 }];
  }, causes);
}

function isSame(
  one: Pick<Change, 'source' | 'part'>,
  another: Pick<Change, 'source' | 'part'>,
): boolean {
  return one.source === another.source && one.part === another.part;
}
