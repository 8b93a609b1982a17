import { resolve } from 'node:path';
import type { AgentConfig } from '../../config/agent-config.ts';
import { nodeString } from '../../bootstrap/node-id.ts';
import type { Identity } from './make-report.ts';
import { version } from '../../../shared/program/version.ts';

/** Returns the identity of an agent of this process, for status, page and log. */
export function identityOf(
  { role, node, configPath, statusPort, proxyAdminPort }: AgentConfig,
  binary: string,
): Identity {
  const { version: ofNode, pid } = process;
  const adminPort = proxyAdminPort;
  return {
    version,
    node: ofNode,
    pid,
    role,
    nodeId: nodeString(role, node),
    configPath: resolve(configPath),
    statusPort,
    adminPort,
    binary,
  };
}
