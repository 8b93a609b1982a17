import type { Known, Report } from './known.ts';
import { age } from './time-text.ts';

/** What somebody should look at. */
export interface Attention {
  readonly level: 'bad' | 'warn';
  readonly text: string;
  /** Since when, or when, where that is known. */
  readonly at?: string;
}

/** In ms. */
const soon = 86_400_000;

/** What is not as it should be, the gravest first; empty where all is well. Pure. */
export function attention(report: Report, now: number): readonly Attention[] {
  const { ready, live, refused, crashes, certificates, sources, controlPlane, notes } = report;
  const all: readonly (Attention | undefined)[] = [
    live.ok ? undefined : { level: 'bad', text: `Not live: ${live.reason}` },
    ready.ok || (!live.ok && live.reason === ready.reason) ? undefined : { level: 'bad', text: `Not ready: ${ready.reason}` },
    refused === undefined ? undefined : { level: 'bad', text: `The newest configuration is refused: ${refused.reason}`, at: refused.at },
    crashes.count === 0 ? undefined : { level: 'warn', text: crashText(crashes, now) },
    ...certificates.map((one): Attention | undefined => {
      const left = Date.parse(one.notAfter) - now;
      if (left <= 0) return { level: 'bad', text: `The certificate ${one.name} has expired`, at: one.notAfter };
      return left < soon && left < lifetime(one) / 10
        ? { level: 'warn', text: `The certificate ${one.name} expires in ${age(left)}` }
        : undefined;
    }),
    ...certificates.map((one): Attention | undefined =>
      one.refused === undefined ? undefined : { level: 'warn', text: `What came for the secret ${one.name} is not served: ${one.refused}` },
    ),
    ...sources.map((one): Attention | undefined =>
      one.state === 'failing'
        ? {
            level: 'warn',
            text: `The source ${one.name} cannot be read: ${one.reason ?? 'no reason is known'}`,
            ...(one.since !== undefined && { at: one.since }),
          }
        : undefined,
    ),
    controlPlane?.state === 'unavailable'
      ? {
          level: 'warn',
          text: `The control plane ${controlPlane.address} is unavailable: ${controlPlane.reason ?? 'no reason is known'}`,
          ...(controlPlane.since !== undefined && { at: controlPlane.since }),
        }
      : undefined,
    // Probes are told of it by a note.
    ...notes.filter((text) => refused === undefined || !text.includes(refused.reason)).map((text): Attention => ({ level: 'warn', text })),
  ];
  const told = all.filter((one) => one !== undefined);
  return [...told.filter(({ level }) => level === 'bad'), ...told.filter(({ level }) => level === 'warn')];
}

function crashText({ count, budget, retryAt }: Report['crashes'], now: number): string {
  const of = budget === 0 ? '' : ` of ${budget} that are allowed`;
  const next = retryAt === undefined ? '' : `; the next attempt is in ${age(Date.parse(retryAt) - now)}`;
  return `Envoy has crashed: ${count}${of}${next}`;
}

export function lifetime({ notBefore, notAfter }: Report['certificates'][number]): number {
  return Date.parse(notAfter) - Date.parse(notBefore);
}

/** What a screen reader is told when it changes: the state in one sentence. Pure. */
export function announcement({ link, report }: Known): string {
  if (link.state === 'away') return `The agent is away. ${link.reason}.`;
  if (report === undefined) return '';
  return `The agent is ${report.phase}, ${report.ready.ok ? 'ready' : `not ready: ${report.ready.reason}`}.`;
}
