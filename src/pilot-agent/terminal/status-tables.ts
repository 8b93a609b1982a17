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
  /** Each list shows at most this number of rows, the first ones. 0: only the heading. */
  readonly rows: number;
  readonly width: number;
  readonly isWide: boolean;
  readonly paint: Paint;
}

/** A column, and its content. `isWide`: only shown with `-o wide`. */
interface Field<Row> extends Column {
  readonly cellOf: (row: Row) => Cell;
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
  const cells = kept.map((row) => columns.map((column) => column.cellOf(row)));
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
    { title: 'EPOCH', isRight: true, cellOf: ({ epoch }) => String(epoch) },
    { title: 'STATE', cellOf: stateOf },
    {
      title: 'AGE',
      isRight: true,
      cellOf: ({ launchedAt }) => span(between(launchedAt, reportedAt)),
    },
    { title: 'LIVED', isRight: true, cellOf: ({ lifeMs }) => span(lifeMs) },
    { title: 'PID', isRight: true, cellOf: ({ pid }) => (pid === undefined ? '' : String(pid)) },
    { title: 'START', isRight: true, cellOf: ({ startMs }) => span(startMs) },
    { title: 'DRAIN', isRight: true, isWide: true, cellOf: ({ drainMs }) => span(drainMs) },
    { title: 'HASH', isWide: true, cellOf: ({ hash }) => hash.slice(0, 8) },
    { title: 'LINEAGE', isRight: true, isWide: true, cellOf: ({ lineage }) => String(lineage) },
    { title: 'WHY', cellOf: whyOf },
    { title: 'LAUNCHED', isWide: true, cellOf: ({ launchedAt }) => launchedAt },
    {
      title: 'LAST WORDS',
      isWide: true,
      cellOf: ({ exit }) => (exit?.lastWords ?? []).map(oneLine).join(' / '),
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
    {
      title: 'NAME',
      hasEnds: true,
      cellOf: (certificate) => oneLine(certificateTitle(certificate)),
    },
    {
      title: 'TIME LEFT',
      isRight: true,
      cellOf: (certificate) => timeLeft(certificate, reportedAt),
    },
    {
      title: 'NAMES',
      cellOf: ({ subject, subjectAltNames }) =>
        oneLine(subjectAltNames.length > 0 ? subjectAltNames.join(', ') : subject),
    },
    { title: 'SUBJECT', isWide: true, cellOf: ({ subject }) => oneLine(subject) },
    { title: 'SERIAL', isWide: true, cellOf: ({ serialNumber }) => oneLine(serialNumber) },
    { title: 'FROM', isWide: true, cellOf: ({ notBefore }) => notBefore },
    { title: 'UNTIL', isWide: true, cellOf: ({ notAfter }) => notAfter },
    { title: 'BY', cellOf: ({ by }) => by },
    { title: 'SOURCE', hasEnds: true, cellOf: ({ source }) => oneLine(source) },
    {
      title: 'REFUSED',
      cellOf: ({ refused }) =>
        refused === undefined ? '' : { text: oneLine(refused), style: 'red' },
    },
  ];
  return list('CERTIFICATES', certificates, fields, size);
}

/** Yellow in the last quarter of a certificate's life. The log warns then, or earlier. */
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
    { title: 'NAME', hasEnds: true, cellOf: ({ name }) => oneLine(name) },
    {
      title: 'STATE',
      cellOf: ({ state }) => ({
        text: state,
        style: state === 'read' ? 'green' : state === 'failing' ? 'red' : 'yellow',
      }),
    },
    { title: 'CHANGED', cellOf: ({ changedAt }) => ago(changedAt, reportedAt) },
    { title: 'READ', isWide: true, cellOf: ({ readAt }) => ago(readAt, reportedAt) },
    { title: 'KIND', isWide: true, cellOf: ({ kind }) => kind ?? '' },
    { title: 'AS', isWide: true, cellOf: ({ as }) => as ?? '' },
    { title: 'EFFECT', cellOf: ({ effect }) => effect ?? '' },
    { title: 'HASH', isWide: true, cellOf: ({ hash }) => hash.slice(0, 8) },
    { title: 'CHANGES', isRight: true, cellOf: ({ changes }) => String(changes) },
    { title: 'READINGS', isRight: true, isWide: true, cellOf: ({ readings }) => String(readings) },
    { title: 'FAILURES', isRight: true, isWide: true, cellOf: ({ failures }) => String(failures) },
    {
      title: 'REASON',
      cellOf: ({ reason, since }) =>
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
    { title: 'SECRET', hasEnds: true, cellOf: ({ secret }) => oneLine(secret) },
    { title: 'VERSION', cellOf: ({ version }) => oneLine(version) },
    {
      title: 'STATE',
      cellOf: ({ state }) => ({
        text: state,
        style: state === 'rejected' ? 'red' : state === 'accepted' ? 'green' : 'yellow',
      }),
    },
    { title: 'WHEN', cellOf: (push) => ago(push.at, reportedAt) },
    { title: 'AT', isWide: true, cellOf: (push) => push.at },
    { title: 'REASON', cellOf: ({ reason }) => oneLine(reason ?? '') },
  ];
  return list('PUSHES', pushes.toReversed(), fields, size);
}
