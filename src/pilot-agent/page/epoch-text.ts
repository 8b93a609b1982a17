import type { EpochReport } from '../report/epoch-report.ts';
import { age, duration } from './time-text.ts';

const reasons: Readonly<Record<EpochReport['why'], string>> = {
  first: 'the first one',
  change: 'a change',
  'by hand': 'requested by hand',
  again: 'again, after Envoy ended',
  rescue: 'a rescue',
  adopted: 'left by an earlier agent',
};

/** Returns why an epoch was started, in a few words. Pure. */
export function whyText({ why, changed }: EpochReport): string {
  const [first, ...more] = changed;
  if (first === undefined) return reasons[why];
  const what = first.part === '' ? first.source : first.part.replace(/^.*\//, '');
  return `${why === 'by hand' ? 'by hand' : 'change'}: ${what}${more.length === 0 ? '' : ` and ${more.length} more`}`;
}

/** Writes a change with the old and the new value, if they are known. Pure. */
export function changeText({ source, part, from, to }: EpochReport['changed'][number]): string {
  const hashes = from === undefined && to === undefined ? '' : `: ${brief(from)} → ${brief(to)}`;
  return `${source}${part === '' ? '' : ` ${part}`}${hashes}`;
}

/** Shortens a sha256 to its first characters. */
const brief = (text = 'absent') => (/^[0-9a-f]{64}$/.test(text) ? text.slice(0, 8) : text);

/** Returns how an Envoy process ended, in a few words. Pure. */
export function exitText(exit: NonNullable<EpochReport['exit']>): string {
  const how: Readonly<Record<typeof exit.kind, string>> = {
    clean: 'ended with 0',
    failed: `ended with ${exit.code ?? 'an error'}`,
    signaled: `ended by ${exit.signal ?? 'a signal'}`,
    'spawn-failed': `was not started: ${exit.reason ?? 'no reason is known'}`,
    unknown: 'ended, and how is not known',
  };
  return `${exit.expected ? '' : exit.kind === 'spawn-failed' ? '' : 'crash: '}${how[exit.kind]}${exit.outOfMemory === true ? ', out of memory' : ''}`;
}

/** Returns how long an epoch lived, or has lived so far. Pure. */
export function lifeText({ lifeMs, launchedAt }: EpochReport, now: number): string {
  return lifeMs === undefined ? age(now - Date.parse(launchedAt)) : duration(lifeMs);
}

/** Describes an epoch in a sentence, for users who do not see the timeline. Pure. */
export function epochText(epoch: EpochReport, now: number): string {
  const state =
    epoch.exit === undefined
      ? `${epoch.state}${epoch.answering === false ? ', silent' : ''}`
      : exitText(epoch.exit);
  return `Epoch ${epoch.epoch}, ${state}, ${whyText(epoch)}, ${lifeText(epoch, now)}`;
}
