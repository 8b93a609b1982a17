import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncScheduler, lastValueFrom } from 'rxjs';
import type { EpochConfig, Verdict } from '../../../epochs/ports.ts';
import { envoyLogLevels } from '../../config/envoy-log-levels.ts';
import type { AgentConfig } from '../../config/agent-config.ts';
import { envoyLogFormat } from '../../../proxy/envoy-lines.ts';
import { nodeString } from '../../bootstrap/node-id.ts';
import { withConfigFile } from '../../../proxy/config-file.ts';
import { envoyArgs } from '../../../proxy/envoy-args.ts';
import { limits, workerThreads } from '../../../proxy/limits.ts';
import { validate } from '../../../proxy/preflight.ts';
import { toolsIn } from './find-tools.ts';

const silent: Verdict = { kind: 'refused', reason: 'Envoy gave no verdict' };

/**
 * Has an Envoy check this configuration before there is an agent, and resolves to its verdict.
 * Rejects if there can be no temporary folder.
 */
export async function tryConfig(
  config: AgentConfig,
  epochConfig: EpochConfig,
  binary: string,
): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-bootstrap-'));
  const args = {
    ...config,
    concurrency: workerThreads(config.concurrency, limits(config.cpuLimit)),
    serviceNode: nodeString(config.role, config.node),
    ipv6: config.node.ipv6,
    logFormat: envoyLogFormat,
    ...envoyLogLevels(config),
  };
  const verdict$ = withConfigFile<Verdict>(epochConfig, join(folder, 'envoy-check'), {
    failed: (reason) => ({ kind: 'refused', reason }),
    use: (path) =>
      validate({
        binary,
        args: envoyArgs(args, { config: path, override: '', restartEpoch: 0 }),
        fifo: join(folder, 'envoy-check.stderr'),
        tools: toolsIn(config.searchPath),
        alone: () => false,
        scheduler: asyncScheduler,
      }),
  });
  return lastValueFrom(verdict$, { defaultValue: silent }).finally(() =>
    rmSync(folder, { recursive: true }),
  );
}
