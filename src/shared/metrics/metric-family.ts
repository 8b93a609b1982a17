import type { Histogram } from '../../operators/histogram.ts';
import { ownMember } from '../text/own-member.ts';

/** Metrics of one name, as the agent tells them of itself. */
export interface MetricFamily {
  /**
   * As Prometheus shows it: that of a counter ends in `_total`, unless it is the Go agent's.
   */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export type MetricLabels = Readonly<Record<string, string>>;

interface Sample {
  /** What a sample of a histogram has behind the name of its family. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels?: MetricLabels;
  readonly value: number;
}

/** A counter of the agent without labels, by its name without what stands around all of them. */
export function counter(name: string, help: string, value: number): MetricFamily {
  return goCounter(`${name}_total`, help, [{ value }]);
}

/** A counter under the name of the Go agent, where it has no `_total`. */
export function goCounter(
  name: string,
  help: string,
  samples: MetricFamily['samples'],
): MetricFamily {
  return { name: `istio_agent_${name}`, type: 'counter', help, samples };
}

/** A histogram of durations, with the same labels on each sample, by its name as a counter's. */
export function histogram(
  name: string,
  help: string,
  { buckets, count, sum }: Histogram,
  labels?: MetricLabels,
): MetricFamily {
  const at = (le: string) => ({ ...labels, le });
  return {
    name: `istio_agent_${name}`,
    type: 'histogram',
    help,
    samples: [
      ...buckets.map(
        (bucket) =>
          ({ suffix: '_bucket', labels: at(String(bucket.limit)), value: bucket.count }) as const,
      ),
      { suffix: '_bucket', labels: at('+Inf'), value: count },
      { suffix: '_sum', ...(labels && { labels }), value: sum },
      { suffix: '_count', ...(labels && { labels }), value: count },
    ],
  };
}

/**
 * Those of one name as one family: the first has the word on type and help. What two of them say
 * of the same labels comes once, from the first. Pure.
 */
export function joinedByName(families: readonly MetricFamily[]): readonly MetricFamily[] {
  const joined = new Map<string, MetricFamily>();
  const key = ({ suffix, labels }: Sample) => JSON.stringify([suffix, labels]);
  for (const family of families) {
    const { name, samples } = family;
    const before = joined.get(name);
    const said = new Set(before?.samples.map(key));
    joined.set(
      name,
      before === undefined
        ? family
        : {
            ...before,
            samples: [...before.samples, ...samples.filter((sample) => !said.has(key(sample)))],
          },
    );
  }
  return [...joined.values()];
}

/** Families as lines of the text format, without line ends. */
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
