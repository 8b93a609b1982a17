import { lifeLegend, type Past } from './life-line.ts';
import type { Paint } from './paint.ts';
import { loadOf, ratesOf, sparkline } from './rates.ts';
import { readiness } from './status-screen.ts';
import { topEpochs } from './top-epochs.ts';
import { topLog } from './top-log.ts';
import type { TopState } from './top-model.ts';
import { apart, cut, oneLine } from './text-width.ts';
import { timeSpan } from './time-span.ts';

/** How much of the screen the epochs may take, if there are many. */
const share = 0.4;
/** The timeline shows as much, in ms, however young the agent is. */
const shortest = 30_000;

/** All lines of the screen: at most `height`, of at most `width` columns. Pure. */
export function topScreen(state: TopState, paint: Paint): readonly string[] {
  const { width, height } = state.size;
  const top = [...head(state, paint), ...traffic(state, paint)];
  const past = pastOf(state);
  const room = Math.max(0, height - top.length - 1);
  const body = state.mode === 'help' ? help(paint) : epochsAndLog(state, past, room, paint);
  const lines = [...top, ...body.slice(0, room)].map((line) => cut(line, width)).slice(0, Math.max(0, height - 1));
  const empty = Array.from({ length: Math.max(0, height - 1 - lines.length) }, () => '');
  return [...lines, ...empty, cut(foot(state, paint), width)].slice(0, height);
}

function epochsAndLog(state: TopState, past: Past, room: number, paint: Paint): readonly string[] {
  const epochs = topEpochs(state, past, Math.max(2, Math.floor(room * share)), paint);
  const { span } = state;
  const range = span === 0 ? 'all' : `last ${timeSpan(span).replace(/ 0[sm]$/, '')}`;
  const running = state.epochs.filter((epoch) => epoch.state !== 'ended').length;
  const heading = `${paint('bold', 'EPOCHS')}  ${running} of ${state.epochs.length} run  ${paint('dim', `${range}  ${lifeLegend}`)}`;
  return [heading, ...epochs, ...topLog(state, room - epochs.length - 1, paint)];
}

/** What the timeline shows: no more than there is to show. */
function pastOf({ epochs, now, span }: TopState): Past {
  const first = epochs[0] === undefined ? now : Date.parse(epochs[0].launchedAt);
  const from = span === 0 ? first : Math.max(first, now - span);
  return { from: Math.min(from, now - shortest), to: now };
}

function head({ report, link, now, size }: TopState, paint: Paint): readonly string[] {
  const clock = new Date(now).toISOString().slice(11, 19);
  if (report === undefined) return [apart(paint('bold', 'pilot-agent'), clock, size.width), trouble(link, now, paint)];
  const { agent, phase } = report;
  const known = link.kind === 'connected' ? readiness(report, paint) : paint('yellow', 'AWAY');
  const up = timeSpan(Math.max(0, now - Date.parse(agent.startedAt)));
  const title = `${known}  pilot-agent ${agent.version}  ${phase} for ${up}  ${agent.role} ${oneLine(agent.nodeId)}`;
  return [apart(title, clock, size.width), link.kind === 'connected' ? worst(report, paint) : trouble(link, now, paint)];
}

function trouble(link: TopState['link'], now: number, paint: Paint): string {
  if (link.kind !== 'away') return paint('yellow', 'connecting to the agent');
  const since = timeSpan(Math.max(0, now - link.since));
  return paint('yellow', `the agent does not answer for ${since}: ${oneLine(link.reason)}; it is asked again twice a second`);
}

/** The one thing that should be known first. */
function worst({ ready, live, refused, crashes, next, notes, controlPlane }: NonNullable<TopState['report']>, paint: Paint): string {
  const limit = crashes.budget === 0 ? '' : ` of ${crashes.budget}`;
  const found = [
    live.ok ? undefined : `not live: ${live.reason}`,
    ready.ok ? undefined : `not ready: ${ready.reason}`,
    next && `epoch ${next.epoch} comes next: ${next.stage}`,
    refused && `refused: ${refused.reason}`,
    crashes.count === 0 ? undefined : `${crashes.count}${limit} crashes`,
    controlPlane?.state === 'unavailable'
      ? `control plane ${controlPlane.address} is unavailable: ${controlPlane.reason ?? ''}`
      : undefined,
    ...notes,
  ].filter((text) => text !== undefined);
  const [first, ...more] = found.map(oneLine);
  if (first === undefined) return paint('dim', 'no trouble is known');
  return paint('yellow', `${first}${more.length === 0 ? '' : `  (and ${more.length} more: pilot-agent status)`}`);
}

function traffic({ traffic: reports, size }: TopState, paint: Paint): readonly string[] {
  const last = reports.at(-1);
  if (last === undefined) return [paint('dim', 'requests are not known yet'), ''];
  const rates = ratesOf(reports);
  const width = Math.max(10, Math.floor((size.width - 40) / 2));
  const now = rates.at(-1);
  const envoy = loadOf(reports, ({ what }) => what === 'envoy');
  const agent = loadOf(reports, ({ what }) => what === 'agent');
  const load = ({ bytes, cpu }: ReturnType<typeof loadOf>) => `${Math.round(bytes / (1 << 20))} MiB ${Math.round(cpu * 100)} % CPU`;
  const bars = (name: 'requests' | 'failures') => sparkline(rates.map((rate) => rate[name]), width).padStart(width); // prettier-ignore
  const sure = (now?.failures ?? 0) > 0 ? 'red' : 'dim';
  return [
    `requests/s ${number(now?.requests)} ${paint('green', bars('requests'))}  failures/s ${number(now?.failures)} ${paint(sure, bars('failures'))}`,
    `${last.connections} connections  ${last.active} in flight  Envoy ${load(envoy)}  agent ${load(agent)}`,
  ];
}

/** In at least five columns, so that what follows stands still. */
function number(value = 0): string {
  const text = value > 0 && value < 10 ? value.toFixed(1) : String(Math.round(value));
  return text.padStart(5);
}

function foot({ mode, filter, told }: TopState, paint: Paint): string {
  if (mode === 'drain') return paint('yellow', 'Drain? Clients are sent elsewhere, no epoch starts any more. y: yes, else: no');
  if (mode === 'restart') return paint('yellow', 'Restart? A new epoch takes over now. y: yes, else: no');
  if (mode === 'filter') return `/${oneLine(filter)}${paint('inverse', ' ')}  ${paint('dim', 'Enter keeps the filter, Escape removes it')}`;
  if (mode === 'help') return paint('dim', 'any key closes the help');
  if (told !== undefined) return paint('cyan', oneLine(told));
  return paint('dim', 'q quit  ? help  ↑↓ epoch  / filter  l level  t time  d drain  r restart');
}

function help(paint: Paint): readonly string[] {
  const keys: readonly (readonly [string, string])[] = [
    ['q, Ctrl-C', 'quit'],
    ['↑ ↓, k j', 'look at an epoch: its details, and its lines of the log alone'],
    ['/', 'show only lines of the log that have a text; Enter keeps it'],
    ['Escape', 'look at no epoch; no filter'],
    ['l', 'show lines from the next level on: debug, info, warn, error'],
    ['t', 'timeline of 1 min, 10 min, 1 h, all'],
    ['d', 'drain, after a question'],
    ['r', 'restart, after a question'],
    ['Ctrl-Z', 'stop for a while; fg goes on'],
    ['Ctrl-L', 'draw anew'],
  ];
  return [paint('bold', 'KEYS'), ...keys.map(([key, text]) => `  ${paint('cyan', key.padEnd(10))} ${text}`)];
}
