import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { BootstrapInputs } from '../../bootstrap/bootstrap-inputs.ts';
import { caFiles } from '../../config/certificate-files.ts';
import type { SecretsConfig } from '../../config/secrets-config.ts';
import { largest, readOutsideSync } from '../../../shared/files/outside-file.ts';
import { type SecretPaths, workloadFiles } from '../../secrets/file-secrets.ts';
import { wayOfRotation, type WayOfRotation } from '../../secrets/rotation.ts';
import { gatewayPlan, type GatewayPlan } from './gateway-plan.ts';
import type { AgentConfig } from '../../config/agent-config.ts';

/** How secrets come to Envoy in this run. */
export interface SecretsPlan {
  readonly rotation: WayOfRotation;
  /** Of the secret discovery server. */
  readonly socket: string;
  /** Whether it is to run. */
  readonly isServed: boolean;
  /**
   * Whether the workload's secrets are kept at hand before Envoy asks. An authority that nobody has
   * named is not asked before somebody wants a certificate.
   */
  readonly isAtHand: boolean;
  /** Where `default` and `ROOTCA` come from: files, or an authority (`host:port`). */
  readonly workload:
    | { readonly kind: 'files'; readonly paths: SecretPaths }
    | { readonly kind: 'authority'; readonly address: string };
  readonly gateway: GatewayPlan;
  /** There is a token by which the workload proves who it is. */
  readonly hasToken: boolean;
  /** The file of the roots that vouch for the control plane. */
  readonly controlPlaneRoot: string;
  /** What a generated bootstrap says of it. */
  readonly sds: BootstrapInputs['sds'];
  /** The agent's configuration with the files that Envoy reads itself. */
  readonly running: AgentConfig;
  readonly config: SecretsConfig;
  readonly warnings: readonly string[];
}

/** Looks at Envoy's configuration, for a token and for certificates, and makes the plan. */
export function secretsPlan(agent: AgentConfig): SecretsPlan {
  const {
    rotation: given,
    configPath,
    customConfigFile,
    proxyBootstrapTemplatePath,
    provCert,
  } = agent;
  const { secrets } = agent;
  const config = {
    ...secrets,
    trustDomain:
      [secrets.trustDomain, agent.trustDomain, 'cluster.local'].find((name) => name !== '') ?? '',
  };
  const socket = resolve(configPath, 'SDS');
  const hasToken =
    !agent.fileMountedCerts && config.tokenFile !== '' && existsSync(config.tokenFile);
  const address = authorityOf(agent, config, hasToken);
  const mounted = workloadFiles(address === '' ? provCert : '', [
    { ...agent.own.server, isNamed: config.namesServer },
    { ...agent.own.client, isNamed: config.namesClient },
  ]);
  // What a variable names is on its way, if it is not there yet.
  const isMounted =
    (config.namesPair || (existsSync(mounted.chain) && existsSync(mounted.key))) &&
    !isOutput(mounted, config.output);
  const workload =
    address === '' || isMounted
      ? ({ kind: 'files', paths: mounted } as const)
      : ({ kind: 'authority', address } as const);

  const own = customConfigFile === '' ? proxyBootstrapTemplatePath : customConfigFile;
  const isAsked =
    own === ''
      ? provCert !== '' || address !== ''
      : namesPath(own, [socket, join(configPath, 'SDS')]);
  const rotation = wayOfRotation(given, isAsked);
  const isWanted =
    rotation.way === 'sds' || isAsked || provCert !== '' || config.caAddress !== '' || hasToken;
  const isGiven = agent.sources.some(({ as }) => as === 'secret');
  // A control plane refers to secrets over `sds-grpc`, whatever the bootstrap does.
  const gateway = gatewayPlan(agent);
  const isServed = own === '' || isWanted || isGiven || gateway.link !== undefined;
  const isNamed = config.caAddress !== '' || config.output !== '';
  // What an authority gives is in no file that a generated bootstrap could name, but where it is
  // written into some.
  const isPushed =
    rotation.way === 'sds' || (own === '' && workload.kind === 'authority' && config.output === '');
  // The Go agent takes it for granted that istiod has issued its own certificate; files of a
  // workload say more.
  const isOfIstiod =
    workload.kind === 'authority' && provCert === '' && agent.pilotCertProvider === undefined;
  const root = isOfIstiod ? caFiles.istiod : agent.controlPlaneTls.root;
  return {
    rotation,
    socket,
    isServed,
    isAtHand: isNamed || (isWanted && workload.kind === 'files'),
    workload,
    gateway,
    hasToken,
    controlPlaneRoot: root,
    sds: isServed ? { socket, isPushed, hasToken, root } : undefined,
    running: isPushed ? { ...agent, ...agent.besidePushed } : agent,
    config,
    warnings: [
      ...(workload.kind === 'authority' && address.endsWith(':15010')
        ? [`the certificate authority ${address} is asked without TLS, as its port says`]
        : []),
      ...gateway.warnings,
    ],
  };
}

/**
 * `host:port`; empty where none is to be asked. Who has a token, and no certificate of a machine
 * that somebody else provides, has the control plane for one, as in the Go agent.
 */
function authorityOf(
  { fileMountedCerts, provCert, discoveryAddress }: AgentConfig,
  { caAddress, output }: SecretsConfig,
  hasToken: boolean,
): string {
  if (fileMountedCerts) return '';
  return caAddress === '' && hasToken && !isProvided(provCert, output)
    ? discoveryAddress
    : caAddress;
}

/** What is in the folder of `PROV_CERT`, or on its way there, comes from another than the agent. */
function isProvided(provCert: string, output: string): boolean {
  const { chain, key } = workloadFiles(provCert, []);
  return (
    provCert !== '' &&
    !(isOutput({ chain, key, root: '' }, output) || !(existsSync(chain) && existsSync(key)))
  );
}

/** What the agent has written itself, in an earlier life perhaps, is no source. */
function isOutput({ chain }: SecretPaths, output: string): boolean {
  return output !== '' && resolve(dirname(chain)) === resolve(output);
}

/** Whether a file has one of these paths in it. */
export function namesPath(file: string, paths: readonly string[]): boolean {
  const read = readOutsideSync(file, largest.envoy);
  return read.kind === 'read' && paths.some((path) => read.bytes.includes(path)); // else whoever uses it says why
}
