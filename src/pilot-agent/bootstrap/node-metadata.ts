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
  /** The environment variables about the node. */
  readonly variables: Pick<
    AgentEnvironment,
    'metadataVariables' | 'podName' | 'podNamespace' | 'serviceAccount' | 'exchangeKeys'
  >;
  /** The labels of the pod. */
  readonly labels: Readonly<Record<string, string>>;
  /** The annotations of the pod. Only those about statistics become metadata. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The IP addresses of the node. */
  readonly addresses: readonly string[];
  /** The metadata of the platform, as far as it is known. */
  readonly platform: Readonly<Record<string, string>>;
  /** 0 = none. */
  readonly stsPort: number;
  readonly sds: SdsInputs | undefined;
}

export type NodeMetadataResult =
  | { readonly ok: true; readonly metadata: NodeMetadata; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * The version of Istio whose protocol this agent speaks, as tested with its control plane. The
 * control plane takes a proxy without a version for the newest one. It is not the version of this
 * agent.
 */
const dialect = '1.26.0';
/** The members that proxies exchange with each other. */
const exchanged =
  'NAME,NAMESPACE,INSTANCE_IPS,LABELS,OWNER,PLATFORM_METADATA,WORKLOAD_NAME,MESH_ID,SERVICE_ACCOUNT,CLUSTER_ID';
const aboutStatistics =
  /^sidecar\.istio\.io\/(?:statsInclusion(?:Prefixes|Suffixes|Regexps)|extraStatTags)$/;

/**
 * Returns the metadata of the node, sorted by name. The agent's own values win over the
 * environment, and the environment over annotations about statistics. Pure.
 *
 * `ISTIO_META_*` in the `proxyMetadata` of the configuration count as environment, but a real
 * variable wins over them. A given `ISTIO_VERSION` replaces the agent's. JSON that does not parse
 * is left out with a warning, and so is a value that Pilot would not understand. In the labels both
 * are problems, because the labels decide who may talk to the proxy. Only a label in
 * `ISTIO_METAJSON_LABELS` that is not a text is left out with a warning.
 */
export function nodeMetadata(inputs: NodeMetadataInputs): NodeMetadataResult {
  const { config, variables, annotations } = inputs;
  const findings: Findings = { problems: [], warnings: [] };
  const { members, labels: environmentLabels } = environmentMetadata(
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
  const environment = new Map(sound.map(([name, { value }]) => [name, value]));
  const agentValues = agentMetadata(inputs, environment, environmentLabels);
  const metadata = {
    ISTIO_VERSION: dialect,
    ...Object.fromEntries(
      Object.entries(annotations).filter(([name]) => aboutStatistics.test(name)),
    ),
    ...Object.fromEntries(
      [...environment].filter(([name, value]) => name !== 'ISTIO_VERSION' || value !== ''),
    ),
    ...Object.fromEntries(Object.entries(agentValues).filter(([, value]) => isThere(value))),
  };
  return { ok: true, metadata: sorted(wellFormed(metadata)), warnings: findings.warnings };
}

/** Returns the agent's own values; a value that is empty is to be left out. */
function agentMetadata(
  { config, variables, labels, addresses, platform, stsPort, sds }: NodeMetadataInputs,
  environment: ReadonlyMap<string, Json>,
  environmentLabels: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  const ports = environment.get('POD_PORTS');
  const more = variables.exchangeKeys.split(',').map((key) => key.trim());
  return {
    NAME: variables.podName,
    NAMESPACE: variables.podNamespace,
    CONFIG_NAMESPACE: variables.podNamespace,
    SERVICE_ACCOUNT: variables.serviceAccount,
    INSTANCE_IPS: [...new Set(addresses)].join(','),
    LABELS: {
      ...(environment.get('LABELS') as NodeMetadata | undefined),
      ...environmentLabels,
      ...labels,
    },
    PLATFORM_METADATA: platform,
    EXCHANGE_KEYS: [exchanged, ...more].filter((key) => key !== '').join(','),
    STS_PORT: stsPort > 0 ? String(stsPort) : '',
    SDS: sds === undefined ? '' : 'true',
    GATEWAY_SECRETS: sds?.gateway === 'served' ? 'true' : '',
    TRUSTJWT: sds?.token === undefined ? '' : 'true',
    PROXY_CONFIG: proxyConfigJson(config),
    POD_PORTS: typeof ports === 'string' ? podPorts(ports) : undefined,
  };
}

function isThere(value: Json): boolean {
  return (
    value !== undefined &&
    value !== '' &&
    (typeof value !== 'object' || Object.keys(value ?? {}).length > 0)
  );
}
