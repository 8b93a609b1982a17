import type { AgentEvent } from './model.ts';
import type { Change } from '../streams/reading.ts';

/**
 * A reason for epochs, and how many epochs it caused. `source` and `part` are those of a {@link
 * Change}.
 */
export interface Cause extends Pick<Change, 'source' | 'part'> {
  readonly why: string;
  readonly count: number;
}

/** Stands for all further reasons once there are too many. */
const other = { source: 'other', part: '' };

/**
 * Returns what has changed since the newest epoch, after one more event. Each part appears once.
 * The result is empty if the reading is the one from which that epoch was started. Pure.
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
  return more.reduce((changes, change) => {
    const earlier = changes.find((previous) => isSame(previous, change));
    const merged = earlier?.from === undefined ? change : { ...change, from: earlier.from };
    return [...changes.filter((previous) => previous !== earlier), merged];
  }, changed);
}

/** Describes a change in a few words. Pure. */
export function changeText({ source, part, from, to }: Change): string {
  const name = part === '' ? source : `${source} ${part}`;
  return from === undefined && to === undefined
    ? name
    : `${name}: ${from ?? 'none'} → ${to ?? 'none'}`;
}

/**
 * Counts one more epoch for each of its reasons. After `most` reasons, further ones count as
 * `other`, once for each `why`. Pure.
 */
export function withCauses(
  causes: readonly Cause[],
  why: string,
  changed: readonly Change[],
  most: number,
): readonly Cause[] {
  const reasons = changed.length === 0 ? [{ source: '', part: '' }] : changed;
  return reasons.reduce((counted, { source, part }) => {
    const same = (reason: Pick<Change, 'source' | 'part'>) =>
      counted.find((cause) => cause.why === why && isSame(cause, reason));
    const existing = same({ source, part }) ?? (counted.length < most ? undefined : same(other));
    if (existing !== undefined)
      return counted.map((cause) =>
        cause === existing ? { ...cause, count: cause.count + 1 } : cause,
      );
    return [...counted, { why, ...(counted.length < most ? { source, part } : other), count: 1 }];
  }, causes);
}

function isSame(a: Pick<Change, 'source' | 'part'>, b: Pick<Change, 'source' | 'part'>): boolean {
  return a.source === b.source && a.part === b.part;
}
