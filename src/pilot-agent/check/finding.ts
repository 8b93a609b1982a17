import type { LogEvent } from '../../shared/log/log-event.ts';
import { troubleshooting } from '../../shared/log/see-also.ts';

/** The flaws that only a check finds. Each name is a heading that says what to do. */
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

/** The flaws that the log of an agent warns of too, under the same heading. */
export const loggedFlaws = [
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

export type CheckFlaw = (typeof flaws)[number] | (typeof loggedFlaws)[number];

/** The severity: a warning may keep the proxy from serving, a failure will. */
export type Level = 'ok' | 'warn' | 'fail';

/** The result of a check. */
export interface Finding {
  /** The subject of the check. */
  readonly check: string;
  readonly level: Level;
  /** The finding, in one line. */
  readonly what: string;
  /** The remedy, in one line, if there is one. */
  readonly fix?: string;
  /** The page and the heading with more about it. */
  readonly see?: string;
}

type Flawed = (flaw: CheckFlaw, what: string, fix: string) => Finding;

/** Returns functions that make the findings of one check. Pure. */
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
