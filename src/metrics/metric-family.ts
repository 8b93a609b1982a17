/** Metrics of one name, as the agent tells them of itself. */
export interface MetricFamily {
  /** As Prometheus shows it: that of a counter ends in `_total`. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly {
    /** What a sample of a histogram has behind the name of its family. */
    readonly suffix?: '_bucket' | '_sum' | '_count';
    readonly labels?: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

/** A counter of the agent without labels, by its name without what stands around all of them. */
export function counter(name: string, help: string, value: number): MetricFamily {
  return { name: `istio_agent_${name}_total`, type: 'counter', help, samples: [{ value }] };
}

/** Families as lines of the text format, without line ends. */
export function printFamilies(families: readonly MetricFamily[]): readonly string[] {
  return families.flatMap(({ name, type, help, samples }) =>
    samples.length === 0
      ? []
      : [
          `# HELP ${name} ${help}`,
          `# TYPE ${name} ${type}`,
          ...samples.map(({ suffix = '', labels = {}, value }) => `${name}${suffix}${printLabels(labels)} ${value}`),
        ],
  );
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

function printLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (sign) => escapes[sign] ?? sign)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
