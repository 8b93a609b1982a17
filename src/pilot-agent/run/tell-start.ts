import { resolve } from 'node:path';
import type { LogLine } from '../../shared/log/log-line.ts';
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

/** What there is to say of the configuration when the agent starts. */
export function tellStart(
  { config, sources, plan, warnings }: CheckedConfig,
  { binary, oddities, passedOver, agentLog }: Start,
): void {
  const log = (line: LogLine) => agentLog.write({ component: 'agent', ...line });
  const { role, node, customConfigFile, statusPort, configPath } = config;
  const controlPlane = askedAddress({ config });
  log({
    level: 'info',
    event: 'agent.started',
    msg: 'pilot-agent',
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
  });
  const shown = presentConfig({ config, sources });
  const values = differingValues(shown, node.addresses);
  if (values !== '')
    log({
      level: 'info',
      event: 'config.given',
      msg: 'values that differ from their defaults',
      values,
    });
  if (config.logging.level === 'debug')
    log({ level: 'debug', event: 'config.effective', msg: 'the configuration', config: shown });
  const byPush = {
    event: 'rotation.by_push',
    msg: 'a changed certificate is pushed to Envoy',
  } as const;
  const byRestart = {
    event: 'rotation.by_restart',
    msg: 'a changed certificate restarts Envoy',
  } as const;
  log({
    level: 'info',
    ...(plan.rotation.way === 'sds' ? byPush : byRestart),
    because: plan.rotation.because,
  });
  for (const { reason } of passedOver)
    log({
      level: 'info',
      event: 'config.passed_over',
      msg: 'a file that is not needed cannot be used',
      reason,
    });
  for (const warning of [...warnings, ...oddities, ...plan.warnings])
    log({ level: 'warn', event: 'config.warning', msg: 'configuration warning', warning });
}
