import type { DirectionReport, ServiceReport } from '../report/request-report.ts';
import { number } from './number-text.ts';
import { age, duration } from './time-text.ts';

/** A cell of a table: its text, and the class of its colour. */
export interface ServiceCell {
  readonly text: string;
  readonly tone: '' | 'dim' | 'text-bad';
}

/**
 * Writes requests, success rate, p50 and p99 of a direction; `–` if there were no requests. Pure.
 */
export function directionCells({
  requests,
  failures,
  p50Ms,
  p99Ms,
}: DirectionReport): readonly ServiceCell[] {
  const time = (ms: number | undefined): ServiceCell =>
    requests === 0 || ms === undefined
      ? { text: '–', tone: 'dim' }
      : { text: ms < 1 ? '< 1 ms' : duration(ms), tone: '' };
  return [
    { text: number(requests), tone: '' },
    requests === 0
      ? { text: '–', tone: 'dim' }
      : { text: `${successText(requests, failures)} %`, tone: failures === 0 ? '' : 'text-bad' },
    time(p50Ms),
    time(p99Ms),
  ];
}

/** Rounds down, so that no failure is hidden behind 100 %. */
function successText(requests: number, failures: number): string {
  const share = (1 - failures / requests) * 100;
  return failures === 0 ? '100' : (Math.floor(share * 100) / 100).toFixed(2);
}

/** Writes the time that the requests cover. Pure. */
export function overText({ overMs }: Extract<ServiceReport, { state: 'answering' }>): string {
  return overMs === undefined ? "since Envoy's start" : `the last ${age(overMs)}`;
}

/** Writes how many more items there are, of which only `listed` can be shown. Pure. */
export function more(listed: number, total: number): string {
  return listed === total ? `${number(total)} more` : `${number(listed)} of ${number(total)} more`;
}
