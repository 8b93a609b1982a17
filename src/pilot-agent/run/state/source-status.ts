import type { SourceConfig } from '../../config/source-config.ts';
import type { MetricFamily } from '../../../shared/metrics/metric-family.ts';
import type { Contribution, Use } from '../../sources/contribution.ts';
import type { SourceChange } from '../../../streams/config-source.ts';
import type { SourceReport } from '../../report/agent-report.ts';
import { isoTime } from '../../report/epoch-report.ts';
import { effects } from '../start/effect-of.ts';

/** The state of one source of configuration. Times in ms since 1970. */
export interface SourceStatus {
  readonly name: string;
  /** The use of its content; undefined until the first reading. */
  readonly use: Use | undefined;
  /** The hash of its content; '' if there is none. */
  readonly hash: string;
  /** The hash of what was last read. A combinator may change that content, or hold it back. */
  readonly readHash: string;
  /** Why it cannot be read now, and since when; undefined if it can. */
  readonly trouble: { readonly reason: string; readonly since: number } | undefined;
  /** Why its content is ignored; undefined if the content is used. */
  readonly flaw: string | undefined;
  readonly readAt: number | undefined;
  readonly changedAt: number | undefined;
  readonly readings: number;
  readonly failures: number;
  readonly changes: number;
}

export type SourceStatuses = ReadonlyMap<string, SourceStatus>;

const unread = {
  use: undefined,
  hash: '',
  readHash: '',
  trouble: undefined,
  flaw: undefined,
  readAt: undefined,
  changedAt: undefined,
  readings: 0,
  failures: 0,
  changes: 0,
} as const;

/** Returns the state of all sources after a sign of one. Pure. `now`: ms since 1970. */
export function afterSourceSign(
  before: SourceStatuses,
  sign: SourceChange,
  now: number,
): SourceStatuses {
  if (sign.type !== 'source-read' && sign.type !== 'source-unreadable') return before;
  const status = before.get(sign.source) ?? { name: sign.source, ...unread };
  if (sign.type === 'source-unreadable') {
    const trouble = { reason: sign.reason, since: status.trouble?.since ?? now };
    return new Map(before).set(sign.source, { ...status, trouble, failures: status.failures + 1 });
  }
  const isNew = status.readHash !== sign.hash;
  return new Map(before).set(sign.source, {
    ...status,
    hash: sign.hash,
    readHash: sign.hash,
    trouble: undefined,
    readAt: now,
    readings: status.readings + 1,
    ...(isNew && { changedAt: now, changes: status.changes + Number(status.readHash !== '') }),
  });
}

/** The report of each source in a reading of all sources. */
interface ReadTogether {
  readonly contributions?: readonly Contribution[];
  readonly flaws?: ReadonlyMap<string, string>;
}

/** Returns the state of all sources after they were read together. Pure. */
export function sourcesRead(
  before: SourceStatuses,
  { contributions = [], flaws }: ReadTogether,
  now: number,
): SourceStatuses {
  return contributions.reduce((statuses: SourceStatuses, { source, use, hash, trouble }) => {
    const status = statuses.get(source) ?? { name: source, ...unread };
    const wrong =
      trouble === undefined ? undefined : { reason: trouble, since: status.trouble?.since ?? now };
    return new Map(statuses).set(source, {
      ...status,
      use,
      hash,
      trouble: wrong,
      flaw: flaws?.get(source),
    });
  }, before);
}

/** Returns, as notes for a probe, why each source with a trouble cannot be read. Pure. */
export function sourceNotes(statuses: SourceStatuses): readonly string[] {
  return [...statuses.values()].flatMap(({ name, trouble, flaw, hash }) => {
    if (trouble === undefined)
      return flaw === undefined ? [] : [`source ${name} is ignored: ${flaw}`];
    const consequence = hash === '' ? 'nothing was read yet' : 'the last content stays in use';
    return [`source ${name}: ${trouble.reason}, since ${isoTime(trouble.since)}: ${consequence}`];
  });
}

/**
 * Returns the sources as `/debug/sources` shows them, also those that were never read, and never
 * their content. Pure.
 */
export function sourcesShown(
  statuses: SourceStatuses,
  configured: readonly SourceConfig[],
): readonly SourceReport[] {
  const names = new Set([...configured.map(({ name }) => name), ...statuses.keys()]);
  return [...names].map((name) => {
    const config = configured.find((source) => source.name === name);
    const status = statuses.get(name) ?? { name, ...unread };
    const {
      use = config?.as,
      hash,
      trouble,
      flaw,
      readAt,
      changedAt,
      readings,
      failures,
      changes,
    } = status;
    return {
      name,
      kind: config?.kind ?? 'custom',
      ...(use !== undefined && { as: use, effect: effects[use] }),
      state:
        trouble !== undefined
          ? 'failing'
          : flaw !== undefined
            ? 'ignored'
            : hash === ''
              ? 'unread'
              : 'read',
      ...(flaw !== undefined && { reason: flaw }),
      ...(trouble !== undefined && { reason: trouble.reason, since: isoTime(trouble.since) }),
      hash: hash.slice(0, 12),
      ...(readAt !== undefined && { readAt: isoTime(readAt) }),
      ...(changedAt !== undefined && { changedAt: isoTime(changedAt) }),
      readings,
      failures,
      changes,
    };
  });
}

/** Returns the metrics of the sources. Pure. */
export function sourceFamilies(statuses: SourceStatuses): readonly MetricFamily[] {
  const samplesOf = (
    value: (status: SourceStatus) => number | undefined,
  ): MetricFamily['samples'] =>
    [...statuses.values()].flatMap((status) => {
      const figure = value(status);
      return figure === undefined ? [] : [{ labels: { source: status.name }, value: figure }];
    });
  const counters = [
    [
      'source_readings',
      'Readings of a source of configuration',
      ({ readings }: SourceStatus) => readings,
    ],
    [
      'source_failures',
      'Failed readings of a source of configuration',
      ({ failures }: SourceStatus) => failures,
    ],
    [
      'source_changes',
      'Changes of a source of configuration',
      ({ changes }: SourceStatus) => changes,
    ],
  ] as const;
  return [
    {
      name: 'istio_agent_source_up',
      type: 'gauge',
      help: 'Whether a source of configuration can be read',
      samples: samplesOf(({ trouble }) => Number(trouble === undefined)),
    },
    ...counters.map(([name, help, value]) => ({
      name: `istio_agent_${name}_total`,
      type: 'counter' as const,
      help,
      samples: samplesOf(value),
    })),
    {
      name: 'istio_agent_source_changed_timestamp_seconds',
      type: 'gauge',
      help: 'Last change of a source of configuration',
      samples: samplesOf(({ changedAt }) => changedAt && changedAt / 1_000),
    },
  ];
}
