import { type Past, shownPast } from '../report/shown-past.ts';
import { type Expiry, expiryOf } from '../report/certificate-life.ts';
import { furtherNotes } from '../report/notes.ts';
import { servingEpoch } from '../report/standing.ts';
import { lifeLegend } from './life-line.ts';
import type { Paint } from '../../shared/log/paint.ts';
import { loadOf, ratesOf, sparkline } from './rates.ts';
import { readiness } from './status-screen.ts';
import { topEpochs } from './top-epochs.ts';
import { topLog } from './top-log.ts';
import { serviceLine } from './request-line.ts';
import type { TopState } from './top-model.ts';
import { apart, cut, oneLine, widthOf, wrapped } from './text-width.ts';
import { timeSpan } from './time-span.ts';

/** The share of the screen that the epochs may take, if there are many. */
const share = 0.4;
/** The share of the screen that reasons may take if they are shown whole. */
const reasonShare = 0.3;

/** Writes all lines of the screen: at most `height`, of at most `width` columns. Pure. */
export function topScreen(state: TopState, paint: Paint): readonly string[] {
  const { width, height } = state.size;
  const top = [...head(state, paint), ...traffic(state, paint)];
  const past = pastOf(state);
  const room = Math.max(0, height - top.length - 1);
  const body = state.mode === 'help' ? help(paint) : epochsAndLog(state, past, room, paint);
  const lines = [...top, ...body.slice(0, room)]
    .map((line) => cut(line, width))
    .slice(0, Math.max(0, height - 1));
  const empty = Array.from({ length: Math.max(0, height - 1 - lines.length) }, () => '');
  return [...lines, ...empty, cut(foot(state, paint), width)].slice(0, height);
}

function epochsAndLog(state: TopState, past: Past, room: number, paint: Paint): readonly string[] {
  const epochs = topEpochs(state, past, Math.max(2, Math.floor(room * share)), paint);
  const range = `last ${timeSpan(past.to - past.from).replace(/ 0[smh]$/, '')}`;
  const running = state.epochs.filter((epoch) => epoch.state !== 'ended').length;
  const heading = `${paint('bold', 'EPOCHS')}  ${running} of ${state.epochs.length} run  ${paint('dim', `${range}  ${lifeLegend}`)}`;
  return [heading, ...epochs, ...topLog(state, room - epochs.length - 1, paint)];
}

function pastOf({ report, now, span }: TopState): Past {
  return shownPast(
    report === undefined ? now : Date.parse(report.agent.startedAt),
    now,
    span === 0 ? Infinity : span,
  );
}

function head(state: TopState, paint: Paint): readonly string[] {
  const { report, link, now, size } = state;
  const clock = new Date(now).toISOString().slice(11, 19);
  if (report === undefined)
    return [apart(paint('bold', 'pilot-agent'), clock, size.width), ...unheard(state, paint)];
  const { agent, phase } = report;
  const standing = link.kind === 'connected' ? readiness(report, paint) : paint('yellow', 'AWAY');
  const how = phase === 'running' || link.kind !== 'connected' ? '' : `${phase}, `;
  const up = timeSpan(Math.max(0, now - Date.parse(agent.startedAt)));
  const title = `${standing}  pilot-agent ${agent.version}  ${how}up for ${up}  ${agent.role} ${oneLine(agent.nodeId)}`;
  return [
    apart(title, clock, size.width),
    ...(link.kind === 'connected' ? troubles(report, state, paint) : unheard(state, paint)),
  ];
}

function unheard({ link, now, long, size }: TopState, paint: Paint): readonly string[] {
  if (link.kind !== 'away') return [paint('yellow', 'connecting to the agent')];
  const since = timeSpan(Math.max(0, now - link.since));
  const text = `the agent does not answer for ${since}: ${oneLine(link.reason)}; it is asked again twice a second`;
  return wrapped(text, long === 'cut' ? Infinity : size.width).map((line) => paint('yellow', line));
}

/** Writes the most important trouble; all of them if lines are shown whole. */
function troubles(
  report: NonNullable<TopState['report']>,
  { long, now, size }: TopState,
  paint: Paint,
): readonly string[] {
  const { ready, live, refused, crashes, next, notes, controlPlane, certificates } = report;
  const limit = crashes.budget === 0 ? '' : ` of ${crashes.budget}`;
  const texts = [
    live.ok ? undefined : `not live: ${live.reason}`,
    ready.ok ? undefined : `not ready: ${ready.reason}`,
    next && `epoch ${next.epoch} comes next: ${next.stage}`,
    refused && `refused: ${refused.reason}`,
    crashes.count === 0 ? undefined : `${crashes.count}${limit} crashes`,
    controlPlane?.state === 'unavailable'
      ? `control plane ${controlPlane.address} is unavailable: ${controlPlane.reason ?? ''}`
      : undefined,
    ...certificates.flatMap((certificate) => expiryOf(certificate, now) ?? []).map(expiryText),
    ...furtherNotes(notes, [refused?.reason, controlPlane?.reason]),
  ].filter((text) => text !== undefined);
  const [first, ...more] = texts.map(oneLine);
  if (first === undefined) return [paint('dim', 'no trouble is known')];
  if (long === 'cut') {
    const hint =
      more.length > 0
        ? `  (w: ${more.length} more)`
        : widthOf(first) > size.width
          ? '  (w: all of it)'
          : '';
    return [paint('yellow', `${cut(first, Math.max(1, size.width - hint.length))}${hint}`)];
  }
  const most = Math.max(1, Math.floor(size.height * reasonShare));
  return [first, ...more]
    .flatMap((text) => wrapped(text, size.width))
    .slice(0, most)
    .map((line) => paint('yellow', line));
}

function expiryText({ title, left }: Expiry): string {
  return left <= 0
    ? `the certificate ${title} has expired`
    : `the certificate ${title} expires in ${timeSpan(left)}`;
}

function traffic(state: TopState, paint: Paint): readonly string[] {
  const { traffic: reports, size, epochs, link } = state;
  const last = reports.at(-1);
  // Earlier counts say nothing about the present.
  const serves = link.kind === 'connected' && servingEpoch(epochs) !== undefined;
  if (last === undefined) return [paint('dim', 'requests are not known yet'), '', ''];
  const rates = ratesOf(reports);
  const width = Math.max(10, Math.floor((size.width - 40) / 2));
  const now = rates.at(-1);
  const envoy = loadOf(reports, ({ what }) => what === 'envoy');
  const agent = loadOf(reports, ({ what }) => what === 'agent');
  const load = ({ bytes, cpu }: ReturnType<typeof loadOf>) =>
    `${Math.round(bytes / (1 << 20))} MiB ${Math.round(cpu * 100)} % CPU`;
  const bars = (name: 'requests' | 'failures') =>
    sparkline(
      rates.map((rate) => rate[name]),
      width,
    ).padStart(width);
  const sure = (now?.failures ?? 0) > 0 ? 'red' : 'dim';
  return [
    `requests/s ${number(serves ? now?.requests : undefined)} ${paint('green', bars('requests'))}  failures/s ${number(serves ? now?.failures : undefined)} ${paint(sure, bars('failures'))}`,
    `${serves ? last.connections : '–'} connections  ${serves ? last.active : '–'} in flight  Envoy ${load(envoy)}  agent ${load(agent)}`,
    serviceLine(serves ? state.service : undefined, paint),
  ];
}

/** Writes a number in at least five columns, so that the text after it does not move. */
function number(value: number | undefined): string {
  const text =
    value === undefined
      ? '–'
      : value > 0 && value < 10
        ? value.toFixed(1)
        : String(Math.round(value));
  return text.padStart(5);
}

function foot({ mode, filter, lastResult: result }: TopState, paint: Paint): string {
  if (mode === 'drain')
    return paint(
      ['bold', 'red'],
      'Drain? This cannot be undone: no further epoch starts. y: drain, else: no',
    );
  if (mode === 'restart')
    return paint('yellow', 'Restart? A new epoch takes over now. y: yes, else: no');
  if (mode === 'filter')
    return `/${oneLine(filter)}${paint('inverse', ' ')}  ${paint('dim', 'Enter keeps the filter, Escape removes it')}`;
  if (mode === 'help') return paint('dim', 'any key closes the help');
  if (result !== undefined) return paint('cyan', oneLine(result));
  return paint(
    'dim',
    'q quit  ? help  ↑↓ epoch  / filter  l level  t time  w whole  r restart  d drain',
  );
}

function help(paint: Paint): readonly string[] {
  const keys: readonly (readonly [string, string])[] = [
    ['q, Ctrl-C', 'quit'],
    ['↑ ↓, k j', 'select an epoch: shows its details, and only its lines of the log'],
    ['/', 'show only lines of the log with a text; Enter keeps the filter'],
    ['Escape', 'select no epoch, and remove the filter'],
    ['l', 'change the lowest level that is shown: debug, info, warn, error'],
    ['t', 'timeline of 1 min, 10 min, 1 h, all'],
    ['w', 'show long lines and all troubles in full, or cut them again'],
    ['r', 'restart; asks first'],
    ['d', 'drain; asks first, because only a new agent can serve again'],
    ['Ctrl-Z', 'suspend; fg continues'],
    ['Ctrl-L', 'draw the screen again'],
  ];
  return [
    paint('bold', 'KEYS'),
    ...keys.map(([key, text]) => `  ${paint('cyan', key.padEnd(10))} ${text}`),
  ];
}
