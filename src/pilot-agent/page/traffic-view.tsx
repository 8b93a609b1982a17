import { useMemo, useState } from 'preact/hooks';
import type { TrafficReport } from '../report/live-events.ts';
import { Chart, type ChartProps } from './chart.tsx';
import { bytes, number, percent, perSecond } from './number-text.ts';
import type { Span } from './timeline.ts';
import { charts, hasData } from './traffic-rates.ts';

interface Props {
  readonly traffic: readonly TrafficReport[];
  readonly span: Span;
  /** The program that serves now. If none does, the newest counts say nothing about the present. */
  readonly who: 'envoy' | 'nobody' | 'away';
}

/** Shows small charts of Envoy's traffic and resources, over the time of the timeline. */
export function TrafficView({ traffic, span, who }: Props) {
  const [pointed, point] = useState<number>();
  // In whole seconds, so that the charts are not computed for each frame.
  const since = Math.floor(span.from / 1000) * 1000;
  const { requests, failures, connections, memory, cpu } = useMemo(
    () => charts(traffic, since),
    [traffic, since],
  );
  const isOver = who !== 'envoy';
  const shared = { span, pointed, point };
  const all: readonly Pick<ChartProps, 'title' | 'series' | 'format' | 'isStacked' | 'isOver'>[] = [
    { title: 'Requests', series: requests, format: perSecond, isStacked: true, isOver },
    { title: 'Failures', series: failures, format: perSecond, isStacked: true, isOver },
    { title: 'Connections', series: connections, format: number, isOver },
    { title: 'Memory', series: memory, format: bytes, isStacked: true },
    { title: 'CPU', series: cpu, format: percent, isStacked: true },
  ];
  const drawn = all.filter(({ series }) => hasData(series));
  if (drawn.length === 0) return null;
  return (
    <div class="charts" role="group" aria-label="Traffic">
      {drawn.map((chart) => (
        <Chart key={chart.title} {...chart} {...shared} />
      ))}
    </div>
  );
}
