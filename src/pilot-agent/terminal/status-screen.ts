import type { AgentReport } from '../report/agent-report.ts';
import { standing } from '../report/standing.ts';
import { certificateLines, epochLines, pushLines, sourceLines } from './status-tables.ts';
import type { Paint } from '../../shared/log/paint.ts';
import { ago, between, timeSpan } from './time-span.ts';
import { cut, oneLine, widthOf, wrapped } from './text-width.ts';

export interface StatusLook {
  /** In columns. `Infinity`: nothing is cut. */
  readonly width: number;
  /** In lines: long lists show as many rows as fit. `Infinity`: all. */
  readonly height: number;
  /** Adds columns that are rarely needed. */
  readonly isWide: boolean;
  readonly paint: Paint;
}

/** With this many rows in each list, an empty line between lists is worth its space. */
const fair = 3;
/** The share of a screen's height that one field of the head may take. */
const share = 1 / 6;
/** The columns before the text of a field. */
const indent = 17;
/** The lines of the heading and the titles of a list. */
const above = 2;

/** Writes the status of an agent as lines of at most `width` columns. Pure. */
export function statusScreen(report: AgentReport, look: StatusLook): readonly string[] {
  const top = head(report, look);
  const sizes = [report.epochs, report.certificates, report.sources, report.pushes]
    .map(({ length }) => length)
    .filter((size) => size > 0);
  const room = look.height - top.length - above * sizes.length;
  const spaced = rowsIn(room - sizes.length, sizes);
  const hasGaps = spaced >= Math.min(fair, Math.max(...sizes));
  const rows = hasGaps ? spaced : rowsIn(room, sizes);
  const lists = [epochLines, certificateLines, sourceLines, pushLines].map((list) =>
    list(report, { rows, ...look }),
  );
  const below = lists.flatMap((list) => (hasGaps && list.length > 0 ? ['', ...list] : list));
  return [...top, ...below].map((line) => cut(line, look.width));
}

/** Returns how many rows each list may have so that all lists fit into `room` lines. Pure. */
function rowsIn(room: number, sizes: readonly number[]): number {
  const longest = Math.max(0, ...sizes);
  const fits = (rows: number) => sizes.reduce((sum, size) => sum + Math.min(size, rows), 0) <= room;
  if (fits(longest)) return longest;
  return Array.from({ length: Math.max(0, room) }, (_, index) => room - index).find(fits) ?? 0;
}

/** Writes the agent's identity, its readiness, and what a reader needs first. */
function head(report: AgentReport, look: StatusLook): readonly string[] {
  const { paint, isWide } = look;
  const { agent, phase, notes, at: reportedAt, crashes, readyAfterMs, refused, next } = report;
  const up = `${phase}, up for ${timeSpan(between(agent.startedAt, reportedAt) ?? 0)}`;
  const first =
    readyAfterMs === undefined ? 'never ready yet' : `first ready after ${timeSpan(readyAfterMs)}`;
  const limit = crashes.budget === 0 ? '' : ` of ${crashes.budget}`;
  const retry =
    crashes.retryAt === undefined
      ? ''
      : `, again in ${timeSpan(Math.max(0, between(reportedAt, crashes.retryAt) ?? 0))}`;
  const ports = [
    `admin ${agent.adminPort}`,
    agent.statusPort === 0 ? 'no status port' : `status ${agent.statusPort}`,
  ].join(', ');
  const version = agent.envoy.version ?? 'version not known yet';
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['phase', `${up}, ${first}`],
    ['live', report.live.ok ? undefined : paint('red', `no: ${oneLine(report.live.reason)}`)],
    ...notes.map((note) => ['note', paint('yellow', oneLine(note))] as const),
    [
      'refused',
      refused &&
        paint(
          'red',
          `${refused.hash.slice(0, 8)} ${ago(refused.at, reportedAt)}: ${oneLine(refused.reason)}`,
        ),
    ],
    ['next', next && `epoch ${next.epoch} from ${next.hash.slice(0, 8)}: ${next.stage}`],
    [
      'crashes',
      crashes.count === 0 ? undefined : paint('yellow', `${crashes.count}${limit}${retry}`),
    ],
    ['control plane', controlPlane(report, paint)],
    ...rejected(report, paint),
    ['agent', `process ${agent.pid}, ${ports}, folder ${oneLine(agent.configPath)}`],
    [
      'envoy',
      `${version}, configuration ${oneLine(agent.configuration)}${isWide ? `, ${oneLine(agent.envoy.path)}` : ''}`,
    ],
    ['node', isWide ? `Node ${agent.node}` : undefined],
    ['started', isWide ? agent.startedAt : undefined],
  ];
  return [
    `${readiness(report, paint)}  pilot-agent ${agent.version}  ${agent.role} ${oneLine(agent.nodeId)}`,
    ...(report.ready.ok ? [] : field('reason', paint('red', oneLine(report.ready.reason)), look)),
    ...rows.flatMap(([name, text]) => (text === undefined ? [] : field(name, text, look))),
  ];
}

/** Returns whether a probe would find the agent ready, in a word. Pure. */
export function readiness(report: Pick<AgentReport, 'phase' | 'ready'>, paint: Paint): string {
  return standing(report).isReady
    ? paint(['bold', 'green'], 'READY')
    : paint(['bold', 'red'], 'NOT READY');
}

/**
 * Writes a field in as many lines as its text needs. If it would fill the screen, the last line is
 * cut.
 */
function field(
  name: string,
  text: string,
  { width, height, paint }: StatusLook,
): readonly string[] {
  const most = Math.max(1, Math.floor(height * share));
  const room = Math.max(1, width - indent);
  const wrappedLines = wrapped(text, room);
  const shown =
    wrappedLines.length <= most
      ? wrappedLines
      : [
          ...wrappedLines.slice(0, most - 1),
          cut(`${wrappedLines[most - 1] ?? ''} ${wrappedLines[most] ?? ''}`, room),
        ];
  const title = `  ${paint('dim', name)}${' '.repeat(indent - 2 - widthOf(name))}`;
  return shown.map((line, index) => `${index === 0 ? title : ' '.repeat(indent)}${line}`);
}

function controlPlane(
  { controlPlane: plane, at: reportedAt }: AgentReport,
  paint: Paint,
): string | undefined {
  if (plane === undefined) return undefined;
  if (plane.by === 'envoy') return `${oneLine(plane.address)}: Envoy itself connects to it`;
  const { state, reason, since, pushedAt, storedOf } = plane;
  const why = reason === undefined ? '' : `: ${oneLine(reason)}`;
  const sure = state === 'answering' ? 'green' : state === 'unavailable' ? 'red' : 'yellow';
  const long = between(since, reportedAt);
  return [
    `${oneLine(plane.address)} ${paint(sure, state)}${long === undefined ? '' : ` for ${timeSpan(long)}`}${why}`,
    ...(pushedAt === undefined ? [] : [`last push ${ago(pushedAt, reportedAt)}`]),
    ...(storedOf === undefined
      ? []
      : [paint('yellow', `Envoy serves the configuration of ${ago(storedOf, reportedAt)}`)]),
  ].join(', ');
}

function rejected(
  { controlPlane: plane, at: reportedAt }: AgentReport,
  paint: Paint,
): readonly (readonly [string, string])[] {
  return (plane?.rejected ?? []).map((rejection) => {
    return [
      'rejected',
      paint(
        'red',
        `${oneLine(rejection.type)} ${ago(rejection.at, reportedAt)}: ${oneLine(rejection.reason)}`,
      ),
    ];
  });
}
