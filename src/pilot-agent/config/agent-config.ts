import type * as z from 'zod/mini';
import type { Application } from './application.ts';
import type { CertificateFiles } from './certificate-files.ts';
import type { AgentEnvironment } from './environment.ts';
import { flags } from './flags.ts';
import type { NodeIdentity } from './node-identity.ts';
import type { LogOptions } from '../../shared/log/open-log.ts';
import type { ProxyConfig } from './proxy-config.ts';
import type { SourceConfig } from './source-config.ts';
import { sourceFlagsSchema } from './source-settings.ts';
import { value } from '../../shared/text/value.ts';

const levels = flags.proxyLogLevel.choices;

/**
 * Says whether a text is a level, optionally followed by levels of components, as in the Go agent
 * 1.30.
 */
function isLogLevel(text: string): boolean {
  const [, level = '', components] = /^([^,]*)(?:,(.*))?$/s.exec(text) ?? [];
  return (
    text === '' ||
    (levels.some((name) => name === level) &&
      (components === undefined || areComponentLevels(components)))
  );
}

function areComponentLevels(text: string): boolean {
  return text
    .split(',')
    .every((part) =>
      levels.some((level) => part.length > level.length + 1 && part.endsWith(`:${level}`)),
    );
}

/** The values that only flags set. */
export const agentFlagsSchema = value.message({
  meshConfig: value.text,
  proxyLogLevel: value.parsed(
    `one of ${levels.join(', ')}`,
    (text) => (isLogLevel(text) ? text : undefined),
    new RegExp(`^(?:(?:${levels.join('|')})(?:,.*)?)?$`, 's'),
  ),
  proxyComponentLogLevel: value.parsed('a list of name:level', (text) =>
    text === '' || areComponentLevels(text) ? text : undefined,
  ),
  outlierLogPath: value.text,
  serviceregistry: value.text,
  id: value.text,
  ip: value.text,
  domain: value.text,
  trustDomain: value.text,
  pilotIdentity: value.text,
  mixerIdentity: value.text,
  disableInternalTelemetry: value.boolean,
  stsPort: value.optionalPort,
  tokenManagerPlugin: value.text,
  minDelay: value.duration,
  envoyRestartPolicy: value.oneOf(...flags.envoyRestartPolicy.choices),
  envoyRestartBudget: value.count,
  xdsProxy: value.boolean,
  xdsStoreMaxAge: value.duration,
  rotation: value.oneOf(...flags.rotation.choices, ''),
  keepEnvoy: value.boolean,
  profiling: value.boolean,
  statusPage: value.boolean,
  statusPageLog: value.boolean,
  configFile: value.text,
  ...sourceFlagsSchema.shape,
});

export type AgentFlags = z.output<typeof agentFlagsSchema>;

/** The complete configuration of the agent; nothing in it is optional. Durations in ms. */
export interface AgentConfig
  extends ProxyConfig, AgentFlags, AgentEnvironment, CertificateFiles, Application {
  readonly role: 'sidecar' | 'router';
  readonly node: NodeIdentity;
  readonly drainCap: number;
  readonly logging: LogOptions;
  /** Each source has its own name. */
  readonly sources: readonly SourceConfig[];
}
