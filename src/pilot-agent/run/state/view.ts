import type { AgentTransition } from '../../../epochs/agent.ts';
import { type AgentState, initialState } from '../../../epochs/model.ts';
import { noTimeline, type Timeline, timeline } from '../../../epochs/timeline.ts';
import type { LogLine } from '../../../shared/log/log-line.ts';
import type { MetricFamily } from '../../../shared/metrics/metric-family.ts';
import type { SecretExpiry } from '../../secrets/certificates.ts';
import type { CertificateSign } from '../../secrets/certificate-expiry.ts';
import type { StatusEvent } from '../../status/status-event.ts';
import type { SourceChange } from '../../../streams/config-source.ts';
import type { SourceSign } from '../../../streams/readings.ts';
import type { XdsSummary } from '../../xds-proxy/relay-telemetry.ts';
import type { AwaitedAuthority } from './awaited-authority.ts';
import { loggedWarnings } from './logged-warnings.ts';
import { type Part, type PartFailed, parts, type Trouble } from './part.ts';
import type { SecretTrouble } from './secret-troubles.ts';
import type { RuntimeSign } from '../sources/apply-runtime.ts';
import { noSettings, type RuntimeSettings } from '../start/runtime-settings.ts';
import type { ConfigWithSources, ShapedConfig } from '../start/shape-source.ts';
import { sourcesRead, type SourceStatuses, afterSourceSign } from './source-status.ts';

/** A sign of the servers beside Envoy. */
export type ServersSign =
  /** The state of a source of secrets. */
  | Extract<SourceChange, { type: 'source-read' | 'source-unreadable' }>
  /** All servers listen. */
  | { readonly type: 'servers-listening' }
  /**
   * A server cannot listen, or its configuration is wrong; `exit` names the exit code of the agent.
   */
  | {
      readonly type: 'servers-failed';
      readonly exit: 'unavailable' | 'config';
      readonly reason: string;
    }
  /** `families` returns the current metrics of one server, until its next sign of this type. */
  | {
      readonly type: 'servers-measured';
      readonly server: 'secrets' | 'xds' | 'sts';
      readonly families: () => readonly MetricFamily[];
    }
  /** The state of the control plane, as far as the xDS proxy knows it. */
  | { readonly type: 'xds-changed'; readonly xds: XdsSummary }
  /** The authority whose first certificate is awaited; undefined once it is there. */
  | { readonly type: 'authority-awaited'; readonly authority: AwaitedAuthority | undefined }
  /** The certificate of a watched secret; undefined once it is not watched, or has none. */
  | {
      readonly type: 'secret-followed';
      readonly name: string;
      readonly certificate: SecretExpiry | undefined;
    }
  /** A secret was pushed to an Envoy, or Envoy has answered. */
  | { readonly type: 'secret-pushed'; readonly push: Omit<PushRecord, 'at'> }
  /** All current troubles of the secrets. */
  | { readonly type: 'secrets-troubled'; readonly troubles: readonly SecretTrouble[] }
  /** A finished log line: a server is loaded only if it runs, and brings its messages with it. */
  | { readonly type: 'servers-log'; readonly line: LogLine };

/** A report of the Envoy that serves about itself. */
export interface EnvoySign {
  readonly type: 'envoy-reported';
  /** Such as `1.36.2`. */
  readonly version: string;
  readonly path: string;
}

/** A push of a secret, and Envoy's answer. */
export interface PushRecord {
  /** ms since 1970. */
  readonly at: number;
  readonly secret: string;
  readonly version: string;
  readonly state: 'pushed' | 'accepted' | 'rejected';
  readonly reason?: string;
}

const keptPushes = 100;

/** A failure of the core, or an uncaught exception. */
export type BugSign =
  /** The core has ended. Its Envoys are drained, or left alone. */
  | (Trouble & { readonly type: 'bug'; readonly leaves: boolean })
  /** The Envoys are gone, or left alone: the run is over. */
  | (Trouble & { readonly type: 'bug-over' });

/** A connection broke while no code of the agent listened for its errors. */
export interface ConnectionBroken extends Trouble {
  readonly type: 'connection-broken';
}

/** Everything that can happen in a run of the agent. */
export type RunSign =
  | { readonly type: 'transition'; readonly transition: AgentTransition }
  | SourceSign<ShapedConfig>
  | RuntimeSign
  | StatusEvent
  | ServersSign
  | CertificateSign
  | EnvoySign
  | PartFailed
  | ConnectionBroken
  | BugSign;

/** A sign and its time: ms since 1970. */
export interface RunEvent {
  readonly sign: RunSign;
  readonly at: number;
}

/** Everything that is known of a run: a fold of all signs. */
export interface RunView {
  readonly agent: AgentState;
  readonly past: Timeline;
  /** The metrics of the servers beside Envoy, by server. */
  readonly families: ReadonlyMap<string, () => readonly MetricFamily[]>;
  /** The state of the control plane; undefined if Envoy connects to it itself. */
  readonly xds: XdsSummary | undefined;
  /** The authority whose first certificate is awaited; undefined if there is none. */
  readonly authority: AwaitedAuthority | undefined;
  /** The troubles of the secrets. */
  readonly secrets: readonly SecretTrouble[];
  /** The certificates in files that the Envoy that serves reads itself. */
  readonly certificates: readonly SecretExpiry[];
  /** The certificates that are pushed, by secret. */
  readonly followed: ReadonlyMap<string, SecretExpiry>;
  /** The newest hundred, oldest first. */
  readonly pushes: readonly PushRecord[];
  /** The version of the newest Envoy that has reported one; undefined if none has. */
  readonly envoyVersion: string | undefined;
  /** When the run began: ms since 1970. */
  readonly startedAt: number;
  /** The state of each source of configuration that reports one, by name. */
  readonly sources: SourceStatuses;
  /** The settings that the Envoy that serves receives without a new epoch. */
  readonly runtime: RuntimeSettings;
  /** The newest valid configuration. */
  readonly validConfig: ConfigWithSources;
  /** When a probe first found the agent ready: ms since 1970. */
  readonly readyAt: number | undefined;
  /** A change was reported, and no reading has followed yet. */
  readonly isChangeReported: boolean;
  /** The warnings that were logged; the last ones if there are many. */
  readonly warned: ReadonlySet<string>;
  /** How often each part has failed. */
  readonly failures: Readonly<Record<Part, number>>;
  /** The core has failed, and the agent ends. */
  readonly isBroken: boolean;
  /** The first request that asked the agent to end: a signal, or an endpoint. */
  readonly askedBy: string | undefined;
  /** The log lines for the newest sign. */
  readonly lines: readonly LogLine[];
}

/** Returns the view before anything has happened. `startedAt`: ms since 1970. */
export function firstView(validConfig: ConfigWithSources, startedAt: number): RunView {
  const failures = Object.fromEntries(parts.map((part) => [part, 0])) as Record<Part, number>;
  return {
    ...{
      agent: initialState,
      past: noTimeline,
      families: new Map(),
      xds: undefined,
      authority: undefined,
      secrets: [],
      certificates: [],
      followed: new Map(),
      pushes: [],
      envoyVersion: undefined,
      startedAt,
      sources: new Map(),
      runtime: noSettings,
      readyAt: undefined,
      validConfig,
      isChangeReported: false,
      warned: new Set<string>(),
    },
    ...{ failures, isBroken: false, askedBy: undefined, lines: [] },
  };
}

/** Returns the view after one more sign. Pure. */
export function view(before: RunView, { sign, at: time }: RunEvent): RunView {
  const { past } = before;
  switch (sign.type) {
    case 'transition':
      return afterTransition(before, sign.transition, time);
    case 'changed':
      return { ...before, past: timeline(past, { type: 'change-seen', at: time }) };
    case 'source-read':
    case 'source-unreadable':
      return { ...before, sources: afterSourceSign(before.sources, sign, time) };
    case 'window-opened':
      return { ...before, isChangeReported: true };
    case 'read':
      return afterReading(before, sign, time);
    case 'certificates-read':
      return { ...before, certificates: sign.certificates };
    case 'secret-followed':
      return { ...before, followed: followed(before.followed, sign) };
    case 'secret-pushed':
      return {
        ...before,
        pushes: [...before.pushes, { at: time, ...sign.push }].slice(-keptPushes),
      };
    case 'envoy-reported':
      return { ...before, envoyVersion: sign.version };
    case 'servers-measured':
      return { ...before, families: new Map(before.families).set(sign.server, sign.families) };
    case 'xds-changed':
      return {
        ...before,
        xds: sign.xds,
        past: timeline(past, { type: 'stored-served', at: time, confirmedAt: sign.xds.storedOf }),
      };
    case 'authority-awaited':
      return { ...before, authority: sign.authority };
    case 'secrets-troubled':
      return { ...before, secrets: sign.troubles };
    case 'found-ready':
      return { ...before, readyAt: before.readyAt ?? time };
    case 'part-failed':
      return withFailure(before, sign);
    case 'bug':
      return { ...before, isBroken: true };
    default:
      return before;
  }
}

function afterTransition(before: RunView, transition: AgentTransition, time: number): RunView {
  const { state, event } = transition;
  return {
    ...before,
    agent: state,
    past: timeline(before.past, { type: 'transition', at: time, transition }),
    askedBy:
      before.askedBy ??
      (event.type === 'terminate-requested' || event.type === 'leave-requested'
        ? event.by
        : undefined),
  };
}

function afterReading(
  before: RunView,
  { reading: { config } }: Extract<RunSign, { readonly type: 'read' }>,
  time: number,
): RunView {
  const { past } = before;
  return {
    ...before,
    past: timeline(past, { type: 'window-closed', at: time }),
    validConfig: config?.validConfig ?? before.validConfig,
    runtime: config?.runtime ?? before.runtime,
    sources: sourcesRead(before.sources, config ?? {}, time),
    isChangeReported: false,
    warned: loggedWarnings(before.warned, config?.warnings ?? []),
  };
}

function followed(
  before: RunView['followed'],
  { name, certificate }: Extract<ServersSign, { type: 'secret-followed' }>,
): RunView['followed'] {
  const others = [...before].filter(([other]) => other !== name);
  return new Map(certificate === undefined ? others : [...others, [name, certificate]]);
}

/** Returns the view with one more failure of a part. Pure. */
export function withFailure(before: RunView, { part }: Pick<PartFailed, 'part'>): RunView {
  return { ...before, failures: { ...before.failures, [part]: before.failures[part] + 1 } };
}
