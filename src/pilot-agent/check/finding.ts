import type { LogEvent } from '../../shared/log/log-event.ts';
import { troubleshooting } from '../../shared/log/see-also.ts';

/** What may be wrong, by the heading that says what to do about it. */
export const flaws = [
  'address unreachable',
  'address unresolved',
  'agent silent',
  'backlog short',
  'certificate chain broken',
  'certificate early',
  'certificate missing',
  'certificate unusable',
  'check unfinished',
  'clock off',
  'configuration wrong',
  'envoy broken',
  'envoy missing',
  'files few',
  'folder full',
  'folder unwritable',
  'memory low',
  'port privileged',
  'port taken',
  'port twice',
  'protocol wrong',
  'shared memory full',
  'shared memory unusable',
  'threads many',
  'tls name',
  'tls refused',
  'tls untrusted',
  'token audience',
  'token expired',
  'token missing',
] as const;

/** What the log of an agent warns of too, by the same heading. */
export const toldInLog = [
  'agent.process_one',
  'certificate.expired',
  'certificate.expiring',
  'config.refused',
  'config.warning',
  'config.watch_failed',
  'envoy.unsupported',
  'epoch.no_room',
  'tool.missing',
] as const satisfies readonly LogEvent[];

export type CheckFlaw = (typeof flaws)[number] | (typeof toldInLog)[number];

/** How bad it is: a warning need not keep the proxy from serving, a failure will. */
export type Level = 'ok' | 'warn' | 'fail';

/** What a check has found. */
export interface Finding {
  /** What was looked at. */
  readonly check: string;
  readonly level: Level;
  /** In one line. */
  readonly what: string;
  /** What to do, in one line; where there is something to do. */
  readonly fix?: string;
  /** The page and the heading that say more. */
  readonly see?: string;
}

type Flawed = (flaw: CheckFlaw, what: string, fix: string) => Finding;

/** Makes the findings of one check. Pure. */
export function findingsOf(check: string): {
  readonly ok: (what: string) => Finding;
  readonly warn: Flawed;
  readonly fail: Flawed;
} {
  const flawed =
    (level: Level): Flawed =>
    (flaw, what, fix) => ({ check, level, what, fix, see: troubleshooting(flaw) });
  return {
    ok: (what) => ({ check, level: 'ok', what }),
    warn: flawed('warn'),
    fail: flawed('fail'),
  };
}
