import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { BootstrapInputs } from '../../bootstrap/bootstrap-inputs.ts';
import { caFiles } from '../../config/certificate-files.ts';
import {
  type SecretsConfig,
  usualWorkloadSocket,
  workloadSocketFolder,
} from '../../config/secrets-config.ts';
import { largest, readOutsideSync } from '../../../shared/files/outside-file.ts';
import { type SecretPaths, workloadFiles } from '../../secrets/file-secrets.ts';
import { wayOfRotation, type WayOfRotation } from '../../secrets/rotation.ts';
import { gatewayPlan, type GatewayPlan } from './gateway-plan.ts';
import type { AgentConfig } from '../../config/agent-config.ts';

/**
 * Files, an authority (`host:port`), or the socket of a program that gives the workload its
 * identity, such as the agent of SPIRE.
 */
type WorkloadSource =
  | { readonly kind: 'files'; readonly paths: SecretPaths }
  | { readonly kind: 'authority'; readonly address: string }
  | { readonly kind: 'socket'; readonly path: string };

/**
 * The handling of a secret that changes. `pushed`: Envoy gets it over SDS. `offered`: each client
 * that requests it gets it over SDS, and the files of the workload restart Envoy. `off`: no server
 * runs, and the files restart Envoy.
 *
 * The workload's secrets are `at-hand` before Envoy requests them. With `on-demand`, an authority
 * that no setting names is not asked before a client requests a certificate.
 */
export type Serving =
  | { readonly kind: 'off' }
  | { readonly kind: 'offered' | 'pushed'; readonly workload: 'at-hand' | 'on-demand' };

/** A reason to serve secrets over SDS. */
type Asker =
  | 'rotation'
  | 'configuration'
  | 'PROV_CERT'
  | 'CA_ADDR'
  | 'OUTPUT_CERTS'
  | 'token'
  | 'socket'
  | 'source'
  | 'gateway';

/** The way secrets reach Envoy in this run. */
export interface SecretsPlan {
  readonly rotation: WayOfRotation;
  /** The path of the socket of the secret discovery server. */
  readonly socket: string;
  readonly serving: Serving;
  /** The source of `default` and `ROOTCA`. */
  readonly workload: WorkloadSource;
  readonly gateway: GatewayPlan;
  /** The file of the token that proves the identity of the workload; undefined if there is none. */
  readonly token: string | undefined;
  /** The file of the roots that verify the control plane. */
  readonly controlPlaneRoot: string;
  /** The part of a generated bootstrap that refers to the server. */
  readonly sds: BootstrapInputs['sds'];
  /** The agent's configuration with the files that Envoy reads itself. */
  readonly running: AgentConfig;
  readonly config: SecretsConfig;
  readonly warnings: readonly string[];
}

/**
 * Makes the plan from Envoy's configuration, the token, the socket and the certificates that exist.
 *
 * @param running the source of the workload's secrets, if this run has one already: it stays
 */
export function secretsPlan(agent: AgentConfig, running?: WorkloadSource): SecretsPlan {
  const { rotation: given, configPath, customConfigFile, proxyBootstrapTemplatePath } = agent;
  const config = withTrustDomain(agent);
  const socket = resolve(configPath, 'SDS');
  const token = tokenOf(agent, config);
  const address = authorityOf(agent, config, token);
  const workloadSocket = workloadSocketOf(agent, config);
  const workload =
    running ??
    (workloadSocket.path === undefined
      ? workloadOf(agent, config, address)
      : { kind: 'socket', path: workloadSocket.path });

  const userFile = customConfigFile === '' ? proxyBootstrapTemplatePath : customConfigFile;
  const isAsked =
    userFile === ''
      ? agent.provCert !== '' || address !== '' || workload.kind === 'socket'
      : namesPath(userFile, [socket, join(configPath, 'SDS')]);
  const rotation = wayOfRotation(given, isAsked);
  // A control plane refers to secrets over `sds-grpc`, whatever the bootstrap contains.
  const gateway = gatewayPlan(agent);
  const askers: Readonly<Record<Asker, boolean>> = {
    rotation: rotation.way === 'sds',
    configuration: isAsked,
    PROV_CERT: agent.provCert !== '',
    CA_ADDR: config.caAddress !== '',
    OUTPUT_CERTS: config.output !== '',
    token: token !== undefined,
    socket: workload.kind === 'socket',
    source: agent.sources.some(({ as }) => as === 'secret'),
    gateway: gateway.link !== undefined,
  };
  const askersNow = (Object.keys(askers) as Asker[]).filter((asker) => askers[asker]);
  const serving = servingOf(userFile === '' ? 'generated' : 'own', workload, new Set(askersNow));
  const root = rootOf(agent, workload);
  return {
    rotation,
    socket,
    serving,
    workload,
    gateway,
    token,
    controlPlaneRoot: root,
    sds:
      serving.kind === 'off'
        ? undefined
        : {
            ...{ socket, delivery: serving.kind, token, root },
            gateway: gateway.source.kind === 'none' ? 'not-served' : 'served',
          },
    running: serving.kind === 'pushed' ? { ...agent, ...agent.besidePushed } : agent,
    config,
    warnings: [...workloadSocket.warnings, ...workloadWarnings(workload), ...gateway.warnings],
  };
}

function withTrustDomain({ secrets, trustDomain }: AgentConfig): SecretsConfig {
  const names = [secrets.trustDomain, trustDomain, 'cluster.local'];
  return { ...secrets, trustDomain: names.find((name) => name !== '') ?? '' };
}

function tokenOf(
  { fileMountedCerts }: AgentConfig,
  { tokenFile }: SecretsConfig,
): string | undefined {
  return !fileMountedCerts && tokenFile !== '' && existsSync(tokenFile) ? tokenFile : undefined;
}

/**
 * Returns the path of the workload socket, if it is used. It is used if it exists, or if a variable
 * gives it an unusual name. It is not used if a variable names certificate files.
 */
function workloadSocketOf(
  { fileMountedCerts }: AgentConfig,
  { workloadSocket, namesPair }: SecretsConfig,
): { readonly path: string | undefined; readonly warnings: readonly string[] } {
  const path = `${workloadSocketFolder}/${workloadSocket}`;
  if (fileMountedCerts || namesPair) return { path: undefined, warnings: [] };
  if (workloadSocket !== usualWorkloadSocket) return { path, warnings: [] };
  const kind = kindAt(path);
  if (kind === 'absent') return { path: undefined, warnings: [] };
  return kind === 'socket'
    ? { path, warnings: [] }
    : { path: undefined, warnings: [`${path} is not used: ${kind.flaw}`] };
}

/**
 * If this user has no access to the folder, a socket is assumed: the attempt to connect then
 * reports the reason.
 */
function kindAt(path: string): 'socket' | 'absent' | { readonly flaw: string } {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return 'absent';
    return stats.isSocket() ? 'socket' : { flaw: 'it is not a socket' };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'EACCES' ? 'socket' : { flaw: message };
  }
}

/** Returns the source of the workload's secrets; `address` is that of an authority, or empty. */
function workloadOf(agent: AgentConfig, config: SecretsConfig, address: string): WorkloadSource {
  const mounted = workloadFiles(address === '' ? agent.provCert : '', [
    { ...agent.own.server, isNamed: config.namesServer },
    { ...agent.own.client, isNamed: config.namesClient },
  ]);
  // A pair that a variable names counts as mounted, even if its files are not there yet.
  const isMounted =
    (config.namesPair || (existsSync(mounted.chain) && existsSync(mounted.key))) &&
    !isOutput(mounted, config.output);
  return address === '' || isMounted
    ? { kind: 'files', paths: mounted }
    : { kind: 'authority', address };
}

/**
 * Returns the roots that verify the control plane. The Go agent assumes that istiod issued its own
 * certificate. If the workload has certificate files, those decide.
 */
function rootOf(
  { provCert, pilotCertProvider, controlPlaneTls }: AgentConfig,
  { kind }: WorkloadSource,
): string {
  const isOfIstiod =
    (kind === 'authority' || (kind === 'socket' && existsSync(caFiles.istiod))) &&
    provCert === '' &&
    pilotCertProvider === undefined;
  return isOfIstiod ? caFiles.istiod : controlPlaneTls.root;
}

function workloadWarnings(workload: WorkloadSource): readonly string[] {
  return workload.kind === 'authority' && workload.address.endsWith(':15010')
    ? [
        `the certificate authority ${workload.address} is asked without TLS, because its port is 15010`,
      ]
    : [];
}

/** Decides whether a secret that changes is pushed, offered, or neither. Pure. */
function servingOf(
  bootstrap: 'generated' | 'own',
  workload: WorkloadSource,
  askersNow: ReadonlySet<Asker>,
): Serving {
  const asksForWorkload = [...askersNow].some(
    (asker) => !['OUTPUT_CERTS', 'source', 'gateway'].includes(asker),
  );
  const isServed =
    bootstrap === 'generated' ||
    asksForWorkload ||
    askersNow.has('source') ||
    askersNow.has('gateway');
  if (!isServed) return { kind: 'off' };
  const isNamed = askersNow.has('CA_ADDR') || askersNow.has('OUTPUT_CERTS');
  // A certificate from an authority is in no file that a generated bootstrap could name, unless
  // OUTPUT_CERTS writes it to files.
  const isInNoFile =
    bootstrap === 'generated' && workload.kind !== 'files' && !askersNow.has('OUTPUT_CERTS');
  return {
    kind: askersNow.has('rotation') || isInNoFile ? 'pushed' : 'offered',
    workload:
      isNamed || (asksForWorkload && workload.kind !== 'authority') ? 'at-hand' : 'on-demand',
  };
}

/**
 * Returns `host:port`; empty if no authority is used. If there is a token, and no machine
 * certificate from elsewhere, the control plane is the authority, as in the Go agent.
 */
function authorityOf(
  { fileMountedCerts, provCert, discoveryAddress }: AgentConfig,
  { caAddress, output }: SecretsConfig,
  token: string | undefined,
): string {
  if (fileMountedCerts) return '';
  return caAddress === '' && token !== undefined && !isProvided(provCert, output)
    ? discoveryAddress
    : caAddress;
}

/** Returns whether the folder of `PROV_CERT` has a certificate that the agent has not written. */
function isProvided(provCert: string, output: string): boolean {
  const { chain, key } = workloadFiles(provCert, []);
  return (
    provCert !== '' &&
    !(isOutput({ chain, key, root: '' }, output) || !(existsSync(chain) && existsSync(key)))
  );
}

/** Returns whether the agent has written the files, perhaps in an earlier run. */
function isOutput({ chain }: SecretPaths, output: string): boolean {
  return output !== '' && resolve(dirname(chain)) === resolve(output);
}

/** Returns whether a file contains one of these paths. */
export function namesPath(file: string, paths: readonly string[]): boolean {
  const read = readOutsideSync(file, largest.envoy);
  return read.kind === 'read' && paths.some((path) => read.bytes.includes(path)); // otherwise the code that uses the file reports the error
}
