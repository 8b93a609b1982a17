import { line } from '../shared/log/log-line.ts';
import type { Reading } from '../streams/reading.ts';
import { changeText } from './causes.ts';
import { claimOf } from './model.ts';
import { shortHash } from './narrate-decision.ts';
import { type Narrators, nothing } from './narrator.ts';
import { checkPause } from './verdict.ts';

/** The log lines about a configuration: that it was read, and the verdict of its check. */
export const configNarrators: Narrators<
  | 'files-awaited'
  | 'config-changed'
  | 'config-confirmed'
  | 'restart-requested'
  | 'config-accepted'
  | 'config-refused'
  | 'config-unchecked'
  | 'resources-known'
> = {
  'files-awaited': ({ missing }) =>
    missing.length === 0 ? [line('files.found')] : [line('files.awaited', { missing })],
  'config-changed': ({ reading }, { awaited, wanted }) => [
    ...(awaited.length === 0 ? [] : [line('files.missing', { missing: awaited })]),
    line(wanted === undefined ? 'config.read' : 'config.changed', whatIsRead(reading)),
  ],
  'config-confirmed': nothing,
  'restart-requested': ({ by, reading }) => [
    line('restart.requested', { by, ...whatIsRead(reading) }),
  ],
  'config-accepted': ({ hash, verdict }, before) => {
    if (claimOf(before)?.reading.hash !== hash) return [];
    if (verdict.kind === 'no-room') return [line('epoch.no_room', { reason: verdict.reason })];
    return verdict.kind === 'works-alone' ? [line('envoy.replaced')] : [];
  },
  'config-refused': ({ hash, reason, excerpt }, before) => {
    const { phase, refused } = before;
    const isExamined = phase === 'running' && before.examined !== undefined;
    if (claimOf(before)?.reading.hash !== hash && !isExamined) return [];
    if (refused?.hash === hash && refused.reason === reason) return [];
    const fields = { hash: shortHash(hash), reason, ...(excerpt !== undefined && { excerpt }) };
    return [line('config.refused', fields, before.epochs.size > 0 ? 'old' : 'none')];
  },
  'config-unchecked': ({ hash, reason, outOfMemory }, before) => {
    const claimed = claimOf(before);
    if (claimed?.stage !== 'checking' || claimed.reading.hash !== hash) return [];
    const pause = checkPause(outOfMemory, claimed.unchecked);
    const fields = { hash: shortHash(hash), reason };
    return pause === undefined
      ? [line('config.unchecked', fields, 'started')]
      : [line('config.unchecked', fields, 'again', pause / 1_000)];
  },
  'resources-known': nothing,
};

function whatIsRead({ hash, changed }: Pick<Reading<unknown>, 'hash' | 'changed'>) {
  return {
    hash: shortHash(hash),
    ...(changed.length > 0 && { changed: changed.map(changeText) }),
  };
}
