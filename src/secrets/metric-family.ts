/** Metrics of one name, as the agent tells them of itself. */
export interface MetricFamily {
  /** As Prometheus shows it: that of a counter ends in `_total`. */
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly samples: readonly { readonly labels?: Readonly<Record<string, string>>; readonly value: number }[];
}
