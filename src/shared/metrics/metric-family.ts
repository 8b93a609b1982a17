import type { Histogram } from '../../operators/histogram.ts';
import { ownMember } from '../text/own-member.ts';

/** The agent's own metrics of one name. */
export interface MetricFamily {
  /** The name in Prometheus: that of a counter ends in `_total`, unless it is the Go agent's. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export type MetricLabels = Readonly<Record<string, string>>;

interface Sample {
  /** The suffix of a histogram's sample after the name of its family. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels?: MetricLabels;
  readonly value: number;
}

/**
 * Returns a counter of the agent without labels. `name` is without the prefix and suffix that all
 * names have.
 */
export function counter(name: string, help: string, value: number): MetricFamily {
  return goCounter(`${name}_total`, help, [{ value }]);
}

/** Returns a counter under the name of the Go agent, which has no `_total`. */
export function goCounter(
  name: string,
  help: string,
  samples: MetricFamily['samples'],
): MetricFamily {
  return { name: `istio_agent_${name}`, type: 'counter', help, samples };
}

/**
 * Returns a histogram of durations, with the same labels on each sample. `name` is as for {@link
 * counter}.
 */
export function histogram(
  name: string,
  help: string,
  { buckets, count, sum }: Histogram,
  labels?: MetricLabels,
): MetricFamily {
  const withLimit = (le: string) => ({ ...labels, le });
  return {
    name: `istio_agent_${name}`,
    type: 'histogram',
    help,
    samples: [
      ...buckets.map(
        (bucket) =>
          ({
            suffix: '_bucket',
            labels: withLimit(String(bucket.limit)),
            value: bucket.count,
          }) as const,
      ),
      { suffix: '_bucket', labels: withLimit('+Inf'), value: count },
      { suffix: '_sum', ...(labels && { labels }), value: sum },
      { suffix: '_count', ...(labels && { labels }), value: count },
    ],
  };
}

/**
 * Joins the families of one name into one family: the first one defines type and help. If two of
 * them have a sample with the same labels, the sample appears once, from the first. Pure.
 */
export function joinedByName(families: readonly MetricFamily[]): readonly MetricFamily[] {
  const joined = new Map<string, MetricFamily>();
  const key = ({ suffix, labels }: Sample) => JSON.stringify([suffix, labels]);
  for (const family of families) {
    const { name, samples } = family;
    const before = joined.get(name);
    const earlierKeys = new Set(before?.samples.map(key));
    joined.set(
      name,
      before === undefined
        ? family
        : {
            ...before,
            samples: [
              ...before.samples,
              ...samples.filter((sample) => !earlierKeys.has(key(sample))),
            ],
          },
    );
  }
  return [...joined.values()];
}

/** Returns families as lines of the text format, without line ends. */
export function printFamilies(families: readonly MetricFamily[]): readonly string[] {
  return families.flatMap(({ name, type, help, samples }) =>
    samples.length === 0
      ? []
      : [
          `# HELP ${name} ${help}`,
          `# TYPE ${name} ${type}`,
          ...samples.map(
            ({ suffix = '', labels = {}, value }) =>
              `${name}${suffix}${printLabels(labels)} ${value}`,
          ),
        ],
  );
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

function printLabels(labels: MetricLabels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${value.replace(/[\\"\n]/g, (sign) => ownMember(escapes, sign) ?? sign)}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
