import { join, resolve } from 'node:path';
import type { AgentConfig } from '../../config/agent-config.ts';
import { controlPlaneOf, controlPlaneSans } from '../../bootstrap/control-plane-identity.ts';
import { nodeString } from '../../bootstrap/node-id.ts';
import type { ControlPlaneAddress } from '../../xds-proxy/control-plane.ts';
import { namesPath, type SecretsPlan, secretsPlan } from './secrets-plan.ts';

/** The way Envoy gets its configuration in this run, if the agent connects to the control plane. */
export interface XdsPlan {
  /** The path of the socket of the xDS proxy. */
  readonly socket: string;
  /** The file of the last good configuration, and the node that it belongs to. */
  readonly store: string;
  readonly nodeId: string;
  readonly target: ControlPlaneAddress;
  /** In ms. */
  readonly maxAge: number;
}

/**
 * Returns the plan; undefined if Envoy connects to the control plane itself: because of
 * `--xdsProxy=false`, or because the user's configuration or template does not name the socket.
 */
export function xdsPlan(agent: AgentConfig, secrets: SecretsPlan): XdsPlan | undefined {
  const {
    xdsProxy,
    xdsStoreMaxAge,
    configPath,
    customConfigFile,
    proxyBootstrapTemplatePath,
    discoveryAddress,
  } = agent;
  const socket = resolve(configPath, 'XDS');
  const userFile = customConfigFile === '' ? proxyBootstrapTemplatePath : customConfigFile;
  const isAsked = userFile === '' || namesPath(userFile, [socket, join(configPath, 'XDS')]);
  if (!xdsProxy || !isAsked) return undefined;
  return {
    socket,
    store: resolve(configPath, 'xds-store'),
    nodeId: nodeString(agent.role, agent.node),
    target: {
      address: discoveryAddress,
      tls: tlsOf(agent, secrets),
      clusterId: secrets.config.clusterId,
    },
    maxAge: xdsStoreMaxAge,
  };
}

/**
 * Returns the control plane of a reloaded configuration; undefined if Envoy connects to it itself.
 * The source of the workload's secrets is that of the start, even if a server has removed its
 * socket since.
 */
export function reloadedTarget(
  agent: AgentConfig,
  { workload }: SecretsPlan,
): ControlPlaneAddress | undefined {
  return xdsPlan(agent, secretsPlan(agent, workload))?.target;
}

/**
 * If there are both a token and a certificate, the agent uses the token, as the Go agent does. A
 * provisioned certificate comes before a token; until it exists, the token is used.
 */
function tlsOf(
  agent: AgentConfig,
  { controlPlaneRoot, token }: SecretsPlan,
): ControlPlaneAddress['tls'] {
  if (agent.controlPlaneAuthPolicy !== 'MUTUAL_TLS') return undefined;
  const { chain, key } = agent.controlPlaneTls;
  const names = controlPlaneSans(controlPlaneOf(agent), agent.pilotIdentity).map(
    ({ type, value }) => `${type}:${value}`,
  );
  const isShown = token === undefined || agent.provCert !== '';
  return {
    roots: resolve(controlPlaneRoot),
    names,
    pair: isShown ? { chain: resolve(chain), key: resolve(key) } : undefined,
    token,
  };
}
