import type { CertificateReport } from './certificate-report.ts';
import type { EpochsReport } from './epoch-report.ts';

/** The agent as a program. */
export interface AgentIdentity {
  readonly version: string;
  /** The version of Node. */
  readonly node: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly role: string;
  /** The node id, by which the control plane knows this proxy. */
  readonly nodeId: string;
  readonly configPath: string;
  /** 0: no port. */
  readonly statusPort: number;
  readonly adminPort: number;
  /** The path of Envoy, and its version once it is known. */
  readonly envoy: { readonly path: string; readonly version?: string };
  /**
   * The path of `--customConfigFile`; `generated` without one. A source or a template that provides
   * the configuration is not named here.
   */
  readonly configuration: string;
}

/** The result of a probe, with the reason if it fails. */
export type ProbeFinding = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** The status of a source of configuration, as in `/debug/sources`. */
export interface SourceReport {
  readonly name: string;
  readonly kind?: string;
  readonly as?: string;
  readonly effect?: string;
  readonly state: 'read' | 'unread' | 'failing' | 'ignored';
  readonly reason?: string;
  readonly since?: string;
  readonly hash: string;
  readonly readAt?: string;
  readonly changedAt?: string;
  readonly readings: number;
  readonly failures: number;
  readonly changes: number;
}

/** The status of the control plane. */
export interface ControlPlaneReport {
  /** `host:port`. */
  readonly address: string;
  /** `envoy`: Envoy asks it directly, and the agent knows only its address. */
  readonly by: 'agent' | 'envoy';
  readonly state: 'answering' | 'connecting' | 'unavailable' | 'unknown';
  readonly reason?: string;
  readonly since?: string;
  /** When the control plane last sent something. */
  readonly pushedAt?: string;
  /** Envoy serves a stored configuration, which was last confirmed at this time. */
  readonly storedOf?: string;
  /** The last NACK of Envoy, by type. */
  readonly rejected: readonly {
    readonly type: string;
    readonly at: string;
    readonly reason: string;
  }[];
}

/**
 * The status of an agent, as in `/debug/status`. Times are ISO 8601 with ms, in UTC; names that end
 * in `Ms` are durations in ms.
 */
export interface AgentReport extends Omit<EpochsReport, 'refused'> {
  /** The time of this report. */
  readonly at: string;
  readonly agent: AgentIdentity;
  readonly phase: 'running' | 'draining' | 'stopping' | 'stopped';
  readonly ready: ProbeFinding;
  readonly live: ProbeFinding;
  /** From the start of the agent until a probe would first have found it ready. */
  readonly readyAfterMs?: number;
  /** Facts that an operator should know, even if the agent is ready. */
  readonly notes: readonly string[];
  /** The refusal of the newest reading, if it is refused. */
  readonly refused?: { readonly at: string; readonly hash: string; readonly reason: string };
  /** Crashes since the budget was last full. `budget` 0: no limit. */
  readonly crashes: { readonly count: number; readonly budget: number; readonly retryAt?: string };
  readonly certificates: readonly CertificateReport[];
  readonly sources: readonly SourceReport[];
  /** Undefined with `--customConfigFile`, unless Envoy gets its resources through the agent. */
  readonly controlPlane?: ControlPlaneReport;
}
