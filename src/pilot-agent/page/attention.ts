import { expiryOf } from '../report/certificate-life.ts';
import type { EpochReport } from '../report/epoch-report.ts';
import { noteAnchor, furtherNotes } from '../report/notes.ts';
import { reasonName } from '../report/reason-name.ts';
import { standing } from '../report/standing.ts';
import { exitText } from './epoch-text.ts';
import type { LiveReport } from '../report/heard.ts';
import type { PageState } from './page-state.ts';
import { crashed } from './timeline.ts';
import { age } from './time-text.ts';

/** A trouble that somebody should look at. */
export interface Attention {
  readonly level: 'bad' | 'warn';
  /** Crashes and refusals have their own signs, as in the timeline. */
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
  const { ready, live, refused, crashes, certificates, sources, controlPlane } = report;
  const candidates: readonly (Attention | false | undefined)[] = [
    !live.ok && {
      level: 'bad',
      kind: 'other',
      text: `Not live: ${live.reason}`,
      see: reasonName(live.reason),
    },
    !ready.ok &&
      (live.ok || live.reason !== ready.reason) && {
        level: 'bad',
        kind: 'other',
        text: `Not ready: ${ready.reason}`,
        see: reasonName(ready.reason),
      },
    refused && {
      level: 'bad',
      kind: 'refused',
      text: `The newest configuration is refused: ${refused.reason}`,
      see: 'config-refused',
      at: refused.at,
    },
    crashes.count > 0 && {
      level: 'warn',
      kind: 'crash',
      text: crashText(crashes, epochs, now),
      see: 'epoch-failed',
    },
    ...certificates.map((certificate) => expiry(certificate, now)),
    ...certificates.map((certificate): Attention | false => {
      const text = `The newest content of the secret ${certificate.name} is not served: ${certificate.refused ?? ''}`;
      return (
        certificate.refused !== undefined && {
          level: 'warn',
          kind: 'refused',
          text,
          see: 'secret-refused',
        }
      );
    }),
    ...sources.map(({ name, state, reason, since }): Attention | false => {
      const text = `The source ${name} cannot be read: ${reason ?? 'no reason is known'}`;
      return (
        state === 'failing' && {
          level: 'warn',
          kind: 'other',
          text,
          see: 'source-unreadable',
          ...(since !== undefined && { at: since }),
        }
      );
    }),
    controlPlane?.state === 'unavailable' && {
      level: 'warn',
      kind: 'other',
      text: `The control plane ${controlPlane.address} is unavailable: ${controlPlane.reason ?? 'no reason is known'}`,
      see: 'xds-unavailable',
      ...(controlPlane.since !== undefined && { at: controlPlane.since }),
    },
    ...untold(report).map((text): Attention => ({
      level: 'warn',
      kind: 'other',
      text,
      see: noteAnchor(text),
    })),
  ];
  const troubles = candidates.filter((candidate) => candidate !== undefined && candidate !== false);
  return [
    ...troubles.filter(({ level }) => level === 'bad'),
    ...troubles.filter(({ level }) => level === 'warn'),
  ];
}

/** Returns the notes that the rest of the report does not show. */
function untold({
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
