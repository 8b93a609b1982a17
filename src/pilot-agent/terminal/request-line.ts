import type { DirectionReport, ServiceReport } from '../report/request-report.ts';
import type { Paint } from '../../shared/log/paint.ts';
import { timeSpan } from './time-span.ts';

/** Writes the service of the Envoy that serves, in one line. Pure. */
export function serviceLine(service: ServiceReport | undefined, paint: Paint): string {
  if (service?.state !== 'answering') return paint('dim', 'inbound –  outbound –  clusters –');
  const { inbound, outbound, clusters } = service;
  const unhealthy =
    clusters === undefined || clusters.unhealthy === 0
      ? ''
      : paint('yellow', `, ${clusters.unhealthy} not healthy`);
  return [
    `inbound ${direction(inbound, paint)}`,
    `outbound ${direction(outbound, paint)}`,
    clusters === undefined
      ? 'clusters –'
      : `${clusters.count} ${clusters.count === 1 ? 'cluster' : 'clusters'}${unhealthy}`,
  ].join('  ');
}

function direction(report: DirectionReport | undefined, paint: Paint): string {
  if (report === undefined || report.requests === 0) return '–';
  const { requests, failures, p50Ms, p99Ms } = report;
  const rate = `${(Math.floor((1 - failures / requests) * 1_000) / 10).toFixed(1)} %`;
  const times =
    p50Ms === undefined || p99Ms === undefined
      ? ''
      : ` p50 ${timeSpan(p50Ms)} p99 ${timeSpan(p99Ms)}`;
  return `${failures > 0 ? paint('red', rate) : rate} ok${times}`;
}
