import type {
  ControlPlaneReport,
  AgentIdentity,
  AgentReport,
  ProbeFinding,
} from '../../report/agent-report.ts';
import type { CertificateReport, SecretPush } from '../../report/certificate-report.ts';
import { epochsReport, isoTime } from '../../report/epoch-report.ts';
import type { SecretExpiry } from '../../secrets/certificates.ts';
import type { ConfigWithSources } from '../start/shape-source.ts';
import { sourcesShown } from '../state/source-status.ts';
import type { RunView } from '../state/view.ts';

/** The facts that do not change while the agent runs. */
export type Identity = Omit<AgentIdentity, 'startedAt' | 'envoy' | 'configuration'> & {
  readonly binary: string;
};

/** The results of the probes for a report. A reason is undefined if nothing is wrong. */
export interface ProbeReasons {
  readonly unready: string | undefined;
  readonly unlive: string | undefined;
  readonly notes: readonly string[];
  /** ms since 1970. */
  readonly now: number;
}

/** Returns the report on the state of the agent. Pure. */
export function agentReport(
  view: RunView,
  { binary, ...identity }: Identity,
  { unready, unlive, notes, now }: ProbeReasons,
): AgentReport {
  const {
    agent,
    past,
    validConfig: { config },
    startedAt,
    readyAt,
    envoyVersion,
  } = view;
  const { refused, ...epochs } = epochsReport(agent, past, pushReports(view));
  return {
    at: isoTime(now),
    agent: {
      ...identity,
      startedAt: isoTime(startedAt),
      envoy: { path: binary, ...(envoyVersion !== undefined && { version: envoyVersion }) },
      configuration: config.customConfigFile === '' ? 'generated' : config.customConfigFile,
    },
    phase: agent.phase,
    ready: finding(unready),
    live: finding(unlive),
    ...(readyAt !== undefined && { readyAfterMs: Math.round(readyAt - startedAt) }),
    notes,
    ...epochs,
    ...(refused !== undefined && { refused: { ...refused, at: isoTime(past.refusedAt ?? now) } }),
    crashes: {
      count: agent.crashes,
      budget: config.envoyRestartBudget,
      ...(past.retryAt !== undefined && { retryAt: isoTime(past.retryAt) }),
    },
    certificates: certificateReports(view),
    sources: sourcesShown(view.sources, config.sources),
    ...controlPlaneReport(view),
  };
}

/** Returns the pushes of secrets, oldest first. Pure. */
export function pushReports({ pushes }: Pick<RunView, 'pushes'>): readonly SecretPush[] {
  return pushes.map(({ at: time, ...push }) => ({ at: isoTime(time), ...push }));
}

function finding(reason: string | undefined): ProbeFinding {
  return reason === undefined ? { ok: true } : { ok: false, reason };
}

function certificateReports({
  certificates,
  followed,
  secrets,
}: RunView): readonly CertificateReport[] {
  const report = (
    { name, source, leaf, expiresAt }: SecretExpiry,
    by: CertificateReport['by'],
  ): CertificateReport => {
    const refused =
      by === 'push'
        ? secrets.find((trouble) => trouble.name === name && trouble.isServed)?.reason
        : undefined;
    return {
      name,
      source,
      by,
      subject: leaf.subject,
      subjectAltNames: leaf.subjectAltNames === '' ? [] : leaf.subjectAltNames.split(', '),
      serialNumber: leaf.serialNumber,
      notBefore: isoTime(leaf.notBefore),
      notAfter: isoTime(expiresAt),
      ...(refused !== undefined && { refused }),
    };
  };
  return [
    ...certificates.map((certificate) => report(certificate, 'file')),
    ...[...followed.values()].map((certificate) => report(certificate, 'push')),
  ];
}

/** Returns the address of the control plane that the agent gave Envoy; empty if it gave none. */
export function askedAddress({ config }: Pick<ConfigWithSources, 'config'>): string {
  return config.customConfigFile === '' ? config.discoveryAddress : '';
}

function controlPlaneReport({ xds, validConfig }: RunView): {
  readonly controlPlane?: ControlPlaneReport;
} {
  if (xds === undefined) {
    const address = askedAddress(validConfig);
    return address === ''
      ? {}
      : { controlPlane: { address, by: 'envoy', state: 'unknown', rejected: [] } };
  }
  const { address, isAnswering, trouble, updatedAt, storedOf, rejected } = xds;
  return {
    controlPlane: {
      address,
      by: 'agent',
      state: isAnswering ? 'answering' : trouble === undefined ? 'connecting' : 'unavailable',
      ...(!isAnswering &&
        trouble !== undefined && { reason: trouble.reason, since: isoTime(trouble.since) }),
      ...(updatedAt !== undefined && { pushedAt: isoTime(updatedAt) }),
      ...(storedOf !== undefined && { storedOf: isoTime(storedOf) }),
      rejected: [...rejected].map(([type, { at: time, reason }]) => ({
        type,
        at: isoTime(time),
        reason,
      })),
    },
  };
}
