import type { AgentReport } from '../report/agent-report.ts';
import { certificateTitle } from '../report/certificate-title.ts';
import type { CertificateReport } from '../report/certificate-report.ts';
import type { EpochReport } from '../report/epoch-report.ts';
import { stateOf, whyOf } from './epoch-words.ts';
import type { Paint } from '../../shared/log/paint.ts';
import { type Cell, type Column, tableLines } from './table-lines.ts';
import { oneLine } from './text-width.ts';
import { ago, between, timeSpan } from './time-span.ts';
import { ownMember } from '../../shared/text/own-member.ts';

export interface TableSize {
  /** The maximum number of rows in each list: the first ones. 0: only the heading. */
  readonly rows: number;
  readonly width: number;
  readonly isWide: boolean;
  readonly paint: Paint;
}

/** A column, and its content. `isWide`: only shown if there is much space. */
interface Field<Row> extends Column {
  readonly of: (row: Row) => Cell;
  readonly isWide?: true;
}

/** Writes a heading and the first rows of a list; nothing for an empty list. */
function list<Row>(
  heading: string,
  entries: readonly Row[],
  fields: readonly Field<Row>[],
  size: TableSize,
): readonly string[] {
  const { rows, width, isWide, paint } = size;
  if (entries.length === 0) return [];
  const kept = entries.slice(0, rows);
  const left = entries.length - kept.length;
  const columns = fields.filter((field) => isWide || field.isWide === undefined);
  const cells = kept.map((row) => columns.map((column) => column.of(row)));
  const lines =
    rows === 0 ? [] : tableLines(columns, cells, width - 2, paint).map((line) => `  ${line}`);
  return [
    `${paint('bold', heading)}${left === 0 ? '' : paint('dim', `  (${left} more: -o wide)`)}`,
    ...lines,
  ];
}

const span = (ms: number | undefined) => (ms === undefined ? '' : timeSpan(ms));

/** Writes the epochs, newest first. Pure. */
export function epochLines(
  { epochs, counters, at: reportedAt }: AgentReport,
  size: TableSize,
): readonly string[] {
  const count = (name: string, singular: string, plural: string) => {
    const number = ownMember(counters, name) ?? 0;
    return number === 0 ? [] : [`${number} ${number === 1 ? singular : plural}`];
  };
  const counted = [
    ...count('restarts', 'restart', 'restarts'),
    ...count('crashes', 'crash', 'crashes'),
    ...count('refusals', 'refusal', 'refusals'),
    ...count('rescues', 'rescue', 'rescues'),
  ].join(', ');
  const fields: readonly Field<EpochReport>[] = [
    { title: 'EPOCH', isRight: true, of: ({ epoch }) => String(epoch) },
    { title: 'STATE', of: stateOf },
    { title: 'AGE', isRight: true, of: ({ launchedAt }) => span(between(launchedAt, reportedAt)) },
    { title: 'LIVED', isRight: true, of: ({ lifeMs }) => span(lifeMs) },
    { title: 'PID', isRight: true, of: ({ pid }) => (pid === undefined ? '' : String(pid)) },
    { title: 'START', isRight: true, of: ({ startMs }) => span(startMs) },
    { title: 'DRAIN', isRight: true, isWide: true, of: ({ drainMs }) => span(drainMs) },
    { title: 'HASH', isWide: true, of: ({ hash }) => hash.slice(0, 8) },
    { title: 'LINEAGE', isRight: true, isWide: true, of: ({ lineage }) => String(lineage) },
    { title: 'WHY', of: whyOf },
    { title: 'LAUNCHED', isWide: true, of: ({ launchedAt }) => launchedAt },
    {
      title: 'LAST WORDS',
      isWide: true,
      of: ({ exit }) => (exit?.lastWords ?? []).map(oneLine).join(' / '),
    },
  ];
  return list(`EPOCHS${counted === '' ? '' : `  ${counted}`}`, epochs.toReversed(), fields, size);
}

/** Writes the certificates that Envoy serves and trusts. Pure. */
export function certificateLines(
  { certificates, at: reportedAt }: AgentReport,
  size: TableSize,
): readonly string[] {
  const fields: readonly Field<CertificateReport>[] = [
    { title: 'NAME', hasEnds: true, of: (certificate) => oneLine(certificateTitle(certificate)) },
    { title: 'TIME LEFT', isRight: true, of: (certificate) => timeLeft(certificate, reportedAt) },
    {
      title: 'NAMES',
      of: ({ subject, subjectAltNames }) =>
        oneLine(subjectAltNames.length > 0 ? subjectAltNames.join(', ') : subject),
    },
    { title: 'SUBJECT', isWide: true, of: ({ subject }) => oneLine(subject) },
    { title: 'SERIAL', isWide: true, of: ({ serialNumber }) => oneLine(serialNumber) },
    { title: 'FROM', isWide: true, of: ({ notBefore }) => notBefore },
    { title: 'UNTIL', isWide: true, of: ({ notAfter }) => notAfter },
    { title: 'BY', of: ({ by }) => by },
    { title: 'SOURCE', hasEnds: true, of: ({ source }) => oneLine(source) },
    {
      title: 'REFUSED',
      of: ({ refused }) => (refused === undefined ? '' : { text: oneLine(refused), style: 'red' }),
    },
  ];
  return list('CERTIFICATES', certificates, fields, size);
}

/** The log warns in the last quarter of a certificate's life. */
function timeLeft({ notBefore, notAfter }: CertificateReport, reportedAt: string): Cell {
  const left = between(reportedAt, notAfter) ?? 0;
  if (left <= 0) return { text: 'expired', style: 'red' };
  return {
    text: timeSpan(left),
    style: left < (between(notBefore, notAfter) ?? 0) / 4 ? 'yellow' : 'green',
  };
}

/** Writes the sources of configuration. Pure. */
export function sourceLines(
  { sources, at: reportedAt }: AgentReport,
  size: TableSize,
): readonly string[] {
  const fields: readonly Field<AgentReport['sources'][number]>[] = [
    { title: 'NAME', hasEnds: true, of: ({ name }) => oneLine(name) },
    {
      title: 'STATE',
      of: ({ state }) => ({
        text: state,
        style: state === 'read' ? 'green' : state === 'failing' ? 'red' : 'yellow',
      }),
    },
    { title: 'CHANGED', of: ({ changedAt }) => ago(changedAt, reportedAt) },
    { title: 'READ', isWide: true, of: ({ readAt }) => ago(readAt, reportedAt) },
    { title: 'KIND', isWide: true, of: ({ kind }) => kind ?? '' },
    { title: 'AS', isWide: true, of: ({ as }) => as ?? '' },
    { title: 'EFFECT', of: ({ effect }) => effect ?? '' },
    { title: 'HASH', isWide: true, of: ({ hash }) => hash.slice(0, 8) },
    { title: 'CHANGES', isRight: true, of: ({ changes }) => String(changes) },
    { title: 'READINGS', isRight: true, isWide: true, of: ({ readings }) => String(readings) },
    { title: 'FAILURES', isRight: true, isWide: true, of: ({ failures }) => String(failures) },
    {
      title: 'REASON',
      of: ({ reason, since }) =>
        reason === undefined
          ? ''
          : `${oneLine(reason)}${since === undefined ? '' : ` (for ${span(between(since, reportedAt))})`}`,
    },
  ];
  return list('SOURCES', sources, fields, size);
}

/** Writes the pushed secrets, newest first. Pure. */
export function pushLines(
  { pushes, at: reportedAt }: AgentReport,
  size: TableSize,
): readonly string[] {
  const fields: readonly Field<AgentReport['pushes'][number]>[] = [
    { title: 'SECRET', hasEnds: true, of: ({ secret }) => oneLine(secret) },
    { title: 'VERSION', of: ({ version }) => oneLine(version) },
    {
      title: 'STATE',
      of: ({ state }) => ({
        text: state,
        style: state === 'rejected' ? 'red' : state === 'accepted' ? 'green' : 'yellow',
      }),
    },
    { title: 'WHEN', of: (push) => ago(push.at, reportedAt) },
    { title: 'AT', isWide: true, of: (push) => push.at },
    { title: 'REASON', of: ({ reason }) => oneLine(reason ?? '') },
  ];
  return list('PUSHES', pushes.toReversed(), fields, size);
}
