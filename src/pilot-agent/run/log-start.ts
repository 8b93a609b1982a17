import { resolve } from 'node:path';
import { line, type LogLine } from '../../shared/log/log-line.ts';
import type { AgentLog } from '../../shared/log/open-log.ts';
import { nodeString } from '../bootstrap/node-id.ts';
import { askedAddress } from './status/make-report.ts';
import type { CheckedConfig } from './check-config.ts';
import { differingValues } from './start/differing-values.ts';
import type { ReadConfig } from './start/effective-config.ts';
import { presentConfig } from './start/present-config.ts';
import { version } from '../../shared/program/version.ts';

interface Start {
  readonly binary: string;
  readonly oddities: readonly string[];
  readonly passedOver: ReadConfig['passedOver'];
  readonly agentLog: Pick<AgentLog, 'write'>;
}

/** Logs the configuration when the agent starts. */
export function logStart(
  { config, sources, plan, warnings }: CheckedConfig,
  { binary, oddities, passedOver, agentLog }: Start,
): void {
  const log = (entry: LogLine) => agentLog.write({ component: 'agent', ...entry });
  const { role, node, customConfigFile, statusPort, configPath } = config;
  const controlPlane = askedAddress({ config });
  log(
    line('agent.started', {
      version,
      node: process.version,
      pid: process.pid,
      role,
      id: node.id,
      nodeId: nodeString(role, node),
      ...(controlPlane !== '' && { controlPlane }),
      status: statusPort === 0 ? resolve(configPath, 'status') : `http://localhost:${statusPort}/`,
      configuration: customConfigFile === '' ? 'generated' : customConfigFile,
      envoy: binary,
    }),
  );
  const shown = presentConfig({ config, sources });
  const values = differingValues(shown, node.addresses);
  if (values !== '') log(line('config.given', { values }));
  if (config.logging.level === 'debug') log(line('config.effective', { config: shown }));
  const { way, because } = plan.rotation;
  log(line(way === 'sds' ? 'rotation.by_push' : 'rotation.by_restart', { because }));
  for (const { reason } of passedOver) log(line('config.passed_over', { reason }));
  for (const warning of [...warnings, ...oddities, ...plan.warnings])
    log(line('config.warning', { warning }));
}
