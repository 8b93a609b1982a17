// Why: docs/decisions/033-the-control-plane-gets-no-token.md
import type { AgentEnvironment } from '../config/environment.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';
import type { SdsInputs } from './bootstrap-inputs.ts';
import { environmentMetadata, metadataFlaw, podPorts } from './environment-metadata.ts';
import { type Findings, type Json, sorted, wellFormed } from './proto-json.ts';
import { proxyConfigJson } from './proxy-config-json.ts';
import type { Problem } from '../../shared/text/value.ts';
import type { NodeMetadata } from './bootstrap-inputs.ts';

export interface NodeMetadataInputs {
  readonly config: ProxyConfig;
  /** What the environment says of the node. */
  readonly variables: Pick<
    AgentEnvironment,
    'metadataVariables' | 'podName' | 'podNamespace' | 'serviceAccount' | 'exchangeKeys'
  >;
  /** Of the pod. */
  readonly labels: Readonly<Record<string, string>>;
  /** Of the pod; those that ask for statistics are told, and no other. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Of the node. */
  readonly addresses: readonly string[];
  /** What is known of the platform. */
  readonly platform: Readonly<Record<string, string>>;
  /** 0 = none. */
  readonly stsPort: number;
  readonly sds: SdsInputs | undefined;
}

export type NodeMetadataResult =
  | { readonly ok: true; readonly metadata: NodeMetadata; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * The Istio whose dialect this agent speaks, as tested with its control plane, which takes a proxy
 * without a version for the newest there is. It is no version of this agent.
 */
const dialect = '1.26.0';
/** What proxies tell each other of themselves. */
const exchanged =
  'NAME,NAMESPACE,INSTANCE_IPS,LABELS,OWNER,PLATFORM_METADATA,WORKLOAD_NAME,MESH_ID,SERVICE_ACCOUNT,CLUSTER_ID';
const aboutStatistics =
  /^sidecar\.istio\.io\/(?:statsInclusion(?:Prefixes|Suffixes|Regexps)|extraStatTags)$/;

/**
 * The metadata of the node, by sorted names: what the agent knows, and beneath it what the
 * environment says, and beneath that what annotations say about statistics. Pure.
 *
 * `ISTIO_META_*` among the `proxyMetadata` of the configuration count as environment, beneath the
 * real one. The version of Istio is beneath all. JSON that does not parse, and a value that Pilot
 * would not understand, are left out, with a warning. In the labels both are problems: who may talk
 * to the proxy depends on them.
 */
export function nodeMetadata({
  config,
  variables,
  labels,
  annotations,
  addresses,
  platform,
  stsPort,
  sds,
}: NodeMetadataInputs): NodeMetadataResult {
  const findings: Findings = { problems: [], warnings: [] };
  const { members, labels: toldLabels } = environmentMetadata(
    { ...config.proxyMetadata, ...variables.metadataVariables },
    findings,
  );
  for (const [name, { value, variable }] of members) {
    const flaw = metadataFlaw(name, value);
    if (flaw === undefined) continue;
    if (name === 'LABELS') findings.problems.push({ place: variable, text: flaw });
    else findings.warnings.push(`${variable}: ${flaw}: ${name} is left out`);
  }
  if (findings.problems.length > 0) return { ok: false, problems: findings.problems };

  const sound = [...members].filter(([name, { value }]) => metadataFlaw(name, value) === undefined);
  const told = new Map(sound.map(([name, { value }]) => [name, value]));
  const ports = told.get('POD_PORTS');
  const more = variables.exchangeKeys.split(',').map((key) => key.trim());
  const known: Readonly<Record<string, Json>> = {
    NAME: variables.podName,
    NAMESPACE: variables.podNamespace,
    CONFIG_NAMESPACE: variables.podNamespace,
    SERVICE_ACCOUNT: variables.serviceAccount,
    INSTANCE_IPS: [...new Set(addresses)].join(','),
    LABELS: { ...(told.get('LABELS') as NodeMetadata | undefined), ...toldLabels, ...labels },
    PLATFORM_METADATA: platform,
    EXCHANGE_KEYS: [exchanged, ...more].filter((key) => key !== '').join(','),
    STS_PORT: stsPort > 0 ? String(stsPort) : '',
    SDS: sds === undefined ? '' : 'true',
    TRUSTJWT: sds?.token === undefined ? '' : 'true',
    PROXY_CONFIG: proxyConfigJson(config),
    POD_PORTS: typeof ports === 'string' ? podPorts(ports) : undefined,
  };
  const isThere = (value: Json) =>
    value !== undefined &&
    value !== '' &&
    (typeof value !== 'object' || Object.keys(value ?? {}).length > 0);
  const metadata = {
    ISTIO_VERSION: dialect,
    ...Object.fromEntries(
      Object.entries(annotations).filter(([name]) => aboutStatistics.test(name)),
    ),
    ...Object.fromEntries(
      [...told].filter(([name, value]) => name !== 'ISTIO_VERSION' || value !== ''),
    ),
    ...Object.fromEntries(Object.entries(known).filter(([, value]) => isThere(value))),
  };
  return { ok: true, metadata: sorted(wellFormed(metadata)), warnings: findings.warnings };
}
