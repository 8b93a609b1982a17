import { exitCause } from '../../../epochs/exit-cause.ts';
import type { EpochRecord, Timeline } from '../../../epochs/timeline.ts';
import { span } from '../../../shared/log/span.ts';

/** How long a crash is reported. In ms. */
const recent = 600_000;

/** An Envoy that ended without a request. */
type Crash = EpochRecord & Required<Pick<EpochRecord, 'exit' | 'endedAt'>>;

function crashesOf({ epochs }: Pick<Timeline, 'epochs'>): readonly Crash[] {
  return epochs.filter(
    (epoch): epoch is Crash =>
      epoch.exit !== undefined && epoch.endedAt !== undefined && epoch.isExpected === false,
  );
}

/** Adds to the reason for unreadiness how Envoy ended, if it has crashed. Pure. */
export function withCrash(reason: string, past: Pick<Timeline, 'epochs'>): string {
  const last = lastOf(crashesOf(past));
  return last === undefined || !reason.startsWith('Envoy has crashed')
    ? reason
    : `${reason}: ${exitCause(last.exit)}`;
}

/**
 * Returns how often Envoy has crashed recently, and how the last crash ended. Pure. `now`: ms since
 * 1970.
 */
export function crashNotes(past: Pick<Timeline, 'epochs'>, now: number): readonly string[] {
  const lately = crashesOf(past).filter(({ endedAt }) => now - endedAt < recent);
  const last = lastOf(lately);
  if (last === undefined) return [];
  const often = lately.length === 1 ? 'once' : `${lately.length} times`;
  return [`Envoy has crashed ${often} in the last ${span(recent)}: ${exitCause(last.exit)}`];
}

function lastOf(crashes: readonly Crash[]): Crash | undefined {
  return crashes.reduce<Crash | undefined>(
    (last, crash) => (last === undefined || crash.endedAt >= last.endedAt ? crash : last),
    undefined,
  );
}
