import { join, resolve } from 'node:path';
import type { AgentConfig } from '../../config/agent-config.ts';
import { controlPlaneOf, controlPlaneSans } from '../../bootstrap/control-plane-identity.ts';
import { nodeString } from '../../bootstrap/node-id.ts';
import type { ControlPlaneAddress } from '../../xds-proxy/control-plane.ts';
import { namesPath, type SecretsPlan } from './secrets-plan.ts';

/** How Envoy comes to its configuration in this run, where the agent has the connection. */
export interface XdsPlan {
  /** Of the xDS proxy. */
  readonly socket: string;
  /** The file of the last good configuration, and the node that it is for. */
  readonly store: string;
  readonly nodeId: string;
  readonly target: ControlPlaneAddress;
  /** In ms. */
  readonly maxAge: number;
}

/**
 * The plan; undefined where Envoy asks the control plane itself: by `--xdsProxy=false`, or because
 * a configuration or a template of the user's does not name the socket.
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
  const own = customConfigFile === '' ? proxyBootstrapTemplatePath : customConfigFile;
  const isAsked = own === '' || namesPath(own, [socket, join(configPath, 'XDS')]);
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
 * A token says more than a certificate if there are both, as in the Go agent. A provisioned
 * certificate says more than a token; until it is there, the token stands for it.
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
