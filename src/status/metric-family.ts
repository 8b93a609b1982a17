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
