import type { CertificateReport } from './certificate-report.ts';
import type { EpochsReport } from './epoch-report.ts';

/** The agent as a program. */
export interface AgentIdentity {
  readonly version: string;
  /** Of Node. */
  readonly node: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly role: string;
  /** The node id, by which the control plane knows this proxy. */
  readonly nodeId: string;
  readonly configPath: string;
  /** 0: there is none. */
  readonly statusPort: number;
  readonly adminPort: number;
  /** The path of Envoy, and its version once it is known. */
  readonly envoy: { readonly path: string; readonly version?: string };
  /** What Envoy is started from: `generated`, or the path of the user's file. */
  readonly configuration: string;
}

/** Whether a probe would find something, and if not, why. */
export type ProbeFinding = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** How it stands with a source of configuration, as `/debug/sources` has it. */
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

/** How it stands with the control plane. */
export interface ControlPlaneReport {
  /** `host:port`. */
  readonly address: string;
  /** `envoy`: Envoy itself asks it, and the agent knows no more than its address. */
  readonly by: 'agent' | 'envoy';
  readonly state: 'answering' | 'connecting' | 'unavailable' | 'unknown';
  readonly reason?: string;
  readonly since?: string;
  /** When it has sent something last. */
  readonly pushedAt?: string;
  /** What Envoy serves is stored, and was confirmed then. */
  readonly storedOf?: string;
  /** What Envoy has refused of it last, by type. */
  readonly rejected: readonly {
    readonly type: string;
    readonly at: string;
    readonly reason: string;
  }[];
}

/**
 * How it stands with an agent, as `/debug/status` has it. Times are ISO 8601 with ms, in UTC; names
 * that end in `Ms` are durations in ms.
 */
export interface AgentReport extends Omit<EpochsReport, 'refused'> {
  /** When this was so. */
  readonly at: string;
  readonly agent: AgentIdentity;
  readonly phase: 'running' | 'draining' | 'stopping' | 'stopped';
  readonly ready: ProbeFinding;
  readonly live: ProbeFinding;
  /** From the start of the agent until a probe would have found it ready for the first time. */
  readonly readyAfterMs?: number;
  /** What should be known of an agent that may be ready all the same. */
  readonly notes: readonly string[];
  /** The newest reading is refused. */
  readonly refused?: { readonly at: string; readonly hash: string; readonly reason: string };
  /** Crashes since the budget was last full. `budget` 0: no limit. */
  readonly crashes: { readonly count: number; readonly budget: number; readonly retryAt?: string };
  readonly certificates: readonly CertificateReport[];
  readonly sources: readonly SourceReport[];
  /** Undefined where Envoy is given a file and no control plane is named. */
  readonly controlPlane?: ControlPlaneReport;
}
