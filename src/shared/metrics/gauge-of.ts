import type { MetricFamily } from './metric-family.ts';

/** Returns a gauge without labels. `name` is the whole name. */
export function gaugeOf(name: string, help: string, value: number): MetricFamily {
  return { name, type: 'gauge', help, samples: [{ value }] };
}

/** Returns a counter without labels. `name` is the whole name. */
export function counterOf(name: string, help: string, value: number): MetricFamily {
  return { name, type: 'counter', help, samples: [{ value }] };
}

/** Returns a counter with a sample for each member of `values`, whose name is the label's value. */
export function counterBy(
  label: string,
  name: string,
  help: string,
  values: Readonly<Record<string, number>>,
): MetricFamily {
  const samples = Object.entries(values).map(([text, value]) => ({
    labels: { [label]: text },
    value,
  }));
  return { name, type: 'counter', help, samples };
}
