import { useMemo, useState } from 'preact/hooks';
import type { TrafficReport } from '../report/live-events.ts';
import { Chart } from './chart.tsx';
import { bytes, number, percent, perSecond } from './number-text.ts';
import type { Span } from './timeline.ts';
import { charts } from './traffic-rates.ts';

/** Small charts of what Envoy does and needs, over the time that the timeline shows. */
export function TrafficView({ traffic, span }: { readonly traffic: readonly TrafficReport[]; readonly span: Span }) {
  const [pointed, point] = useState<number>();
  // As of whole seconds, so that it is not computed for each frame.
  const since = Math.floor(span.from / 1000) * 1000;
  const { requests, failures, connections, memory, cpu } = useMemo(() => charts(traffic, since), [traffic, since]);
  const shared = { span, pointed, point };
  return (
    <div class="charts" role="group" aria-label="Traffic">
      <Chart title="Requests" series={requests} format={perSecond} isStacked {...shared} />
      <Chart title="Failures" series={failures} format={perSecond} isStacked {...shared} />
      <Chart title="Connections" series={connections} format={number} {...shared} />
      <Chart title="Memory" series={memory} format={bytes} isStacked {...shared} />
      <Chart title="CPU" series={cpu} format={percent} isStacked {...shared} />
    </div>
  );
}
