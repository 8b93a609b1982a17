import { expiryOf } from '../report/certificate-life.ts';
import type { EpochReport } from '../report/epoch-report.ts';
import { noteAnchor, furtherNotes } from '../report/notes.ts';
import { reasonName } from '../report/reason-name.ts';
import { standing } from '../report/standing.ts';
import { exitText } from './epoch-text.ts';
import type { LiveReport } from '../report/agent-view.ts';
import type { PageState } from './page-state.ts';
import { crashed } from './timeline.ts';
import { age } from './time-text.ts';

/** A trouble that somebody should look at. */
export interface Attention {
  readonly level: 'bad' | 'warn';
  /** Crashes and refusals have their own symbols, as in the timeline. */
  readonly kind: 'crash' | 'refused' | 'other';
  /** With the cause, if it is known. */
  readonly text: string;
  /** The anchor in docs/troubleshooting.md that says what to do. */
  readonly see: string;
  /** The time of the trouble, or the time when it began, if that is known. */
  readonly at?: string;
}

/** Returns all troubles, the most serious first; empty if all is well. Pure. */
export function attention(
  report: LiveReport,
  epochs: readonly EpochReport[],
  now: number,
): readonly Attention[] {
  const troubles = [
    ...healthTroubles(report),
    ...epochTroubles(report, epochs, now),
    ...certificateTroubles(report, now),
    ...sourceTroubles(report),
    ...unseenNotes(report).map((text) => warning(text, noteAnchor(text))),
  ];
  return [
    ...troubles.filter(({ level }) => level === 'bad'),
    ...troubles.filter(({ level }) => level === 'warn'),
  ];
}

function warning(text: string, see: string, since?: string): Attention {
  return { level: 'warn', kind: 'other', text, see, ...(since !== undefined && { at: since }) };
}

function healthTroubles({ ready, live }: LiveReport): readonly Attention[] {
  const unlive: readonly Attention[] = live.ok
    ? []
    : [
        {
          level: 'bad',
          kind: 'other',
          text: `Not live: ${live.reason}`,
          see: reasonName(live.reason),
        },
      ];
  if (ready.ok || (!live.ok && live.reason === ready.reason)) return unlive;
  const text = `Not ready: ${ready.reason}`;
  return [...unlive, { level: 'bad', kind: 'other', text, see: reasonName(ready.reason) }];
}

function epochTroubles(
  { refused, crashes }: LiveReport,
  epochs: readonly EpochReport[],
  now: number,
): readonly Attention[] {
  const refusal: readonly Attention[] =
    refused === undefined
      ? []
      : [
          {
            level: 'bad',
            kind: 'refused',
            text: `The newest configuration is refused: ${refused.reason}`,
            see: 'config-refused',
            at: refused.at,
          },
        ];
  if (crashes.count === 0) return refusal;
  const text = crashText(crashes, epochs, now);
  return [...refusal, { level: 'warn', kind: 'crash', text, see: 'epoch-failed' }];
}

function certificateTroubles({ certificates }: LiveReport, now: number): readonly Attention[] {
  return [
    ...certificates.flatMap((certificate) => expiry(certificate, now) ?? []),
    ...certificates.flatMap(({ name, refused }): readonly Attention[] => {
      if (refused === undefined) return [];
      const text = `The newest content of the secret ${name} is not served: ${refused}`;
      return [{ level: 'warn', kind: 'refused', text, see: 'secret-refused' }];
    }),
  ];
}

function sourceTroubles({ sources, controlPlane }: LiveReport): readonly Attention[] {
  const unread = sources.flatMap(({ name, state, reason, since }) => {
    const text = `The source ${name} cannot be read: ${reason ?? 'no reason is known'}`;
    return state === 'failing' ? [warning(text, 'source-unreadable', since)] : [];
  });
  if (controlPlane?.state !== 'unavailable') return unread;
  const { address, reason, since } = controlPlane;
  const text = `The control plane ${address} is unavailable: ${reason ?? 'no reason is known'}`;
  return [...unread, warning(text, 'xds-unavailable', since)];
}

/** Returns the notes that the rest of the report does not show. */
function unseenNotes({
  notes,
  refused,
  crashes,
  sources,
  controlPlane,
  certificates,
}: LiveReport): readonly string[] {
  const shownReasons = [
    refused?.reason,
    controlPlane?.reason,
    ...sources.map(({ reason }) => reason),
    ...certificates.map((certificate) => certificate.refused),
  ];
  const areCrashesTold = crashes.count > 0;
  return furtherNotes(notes, shownReasons).filter(
    (note) => !areCrashesTold || !note.startsWith('Envoy has crashed'),
  );
}

function expiry(
  certificate: LiveReport['certificates'][number],
  now: number,
): Attention | undefined {
  const expires = expiryOf(certificate, now);
  if (expires === undefined) return undefined;
  const { title, left } = expires;
  return left <= 0
    ? {
        level: 'bad',
        kind: 'other',
        text: `The certificate ${title} has expired`,
        see: 'certificate-expired',
        at: certificate.notAfter,
      }
    : {
        level: 'warn',
        kind: 'other',
        text: `The certificate ${title} expires in ${age(left)}`,
        see: 'certificate-expiring',
      };
}

/**
 * Writes the number of crashes, how the last one ended and what Envoy wrote about it, and what
 * comes next.
 */
function crashText(
  { count, budget, retryAt }: LiveReport['crashes'],
  epochs: readonly EpochReport[],
  now: number,
): string {
  const limit = budget === 0 ? '' : ` of ${budget} that are allowed`;
  const last = epochs.findLast(crashed);
  const words = last?.exit?.cause;
  const how =
    last?.exit === undefined
      ? ''
      : `; epoch ${last.epoch}: ${exitText(last.exit)}${words === undefined ? '' : `: ${words}`}`;
  const next =
    retryAt === undefined ? '' : `; the next attempt is in ${age(Date.parse(retryAt) - now)}`;
  return `Envoy has crashed: ${count}${limit}${how}${next}`;
}

/** Returns the text for a screen reader after a change: the state in one sentence. Pure. */
export function announcement({ link, report }: PageState): string {
  if (link.kind === 'away') return `The agent is away. ${link.reason}.`;
  if (report === undefined) return '';
  const { text } = standing(report);
  return `The agent is ${report.ready.ok || report.ready.reason === report.phase ? text : `${text}: ${report.ready.reason}`}.`;
}
