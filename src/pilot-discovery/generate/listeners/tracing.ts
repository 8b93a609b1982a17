import type { HttpConnectionManager_TracingSchema } from '../../../shared/proto/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts';
import type { CustomTagSchema } from '../../../shared/proto/envoy/type/tracing/v3/custom_tag_pb.ts';
import { byText } from '../../environment/age.ts';
import type { Environment } from '../../environment/environment.ts';
import type { CustomTag } from '../../istio/fields/custom-tag.ts';
import type { MeshConfig } from '../../istio/mesh/mesh-config.ts';
import type { Resource } from '../../istio/documents/model.ts';
import type { ProxyTracing } from '../../istio/telemetry/proxy-tracing.ts';
import type { CallSide, SampledBy } from '../../istio/telemetry/telemetry.ts';
import { isTracer, type Tracer } from '../../istio/telemetry/tracer.ts';
import type { Init } from '../encoding/typed-config.ts';
import { clusterOfProvider } from '../scope/provider-cluster.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { tracerFields } from './tracer-fields.ts';
import { tracingOf } from './tracing-of.ts';

type TagMessage = Init<typeof CustomTagSchema>;
type TracingMessage = Init<typeof HttpConnectionManager_TracingSchema>;

/** The labels of a proxy that spans contain. */
export const canonicalLabels = [
  'service.istio.io/canonical-name',
  'service.istio.io/canonical-revision',
] as const;
const [canonicalName, canonicalRevision] = canonicalLabels;

/** How the managers of one side trace calls. */
export interface ManagerTracing {
  /** Undefined if they send no spans. */
  readonly spans: TracingMessage | undefined;
  readonly sampledBy: SampledBy;
}

const noSpans: ManagerTracing = { spans: undefined, sampledBy: 'request-id' };

/**
 * Returns how a proxy traces the calls of one side. If no resource names a provider, spans go to
 * the tracer of its bootstrap. If the proxy does not reach the provider, it sends no spans.
 */
export function managerTracing(
  environment: Environment,
  node: ProxyNode,
  telemetries: readonly Resource<'Telemetry'>[],
  side: CallSide,
): ManagerTracing {
  const { mesh } = environment;
  const settings = node.tracing ?? mesh.defaultTracing;
  const setting = tracingOf(mesh, telemetries, side);
  if (setting === undefined)
    return mesh.enableTracing ? { ...noSpans, spans: spansBy(node, settings, settings) } : noSpans;
  const provider = setting.spans === 'off' ? undefined : tracerNamed(mesh, setting.provider);
  const reached = provider && clusterOfProvider(environment, node, provider.at);
  if (provider === undefined || reached === undefined) return noSpans;
  const tags = setting.customTags ?? [];
  return {
    spans: {
      ...spansBy(
        node,
        {
          sampling: setting.sampling ?? settings.sampling,
          customTags: tags.length > 0 ? tags : settings.customTags,
          istioTags: setting.istioTags ?? 'on',
        },
        settings,
      ),
      ...tracerFields(provider, reached, node.cluster),
    },
    sampledBy: setting.sampledBy ?? 'request-id',
  };
}

/** Returns whether the name of its service in spans affects what a proxy receives. */
export const namesServices = ({ providers }: Pick<MeshConfig, 'providers'>): boolean =>
  providers.some(({ type }) => type === 'datadog' || type === 'open-telemetry');

/** Returns everything of a proxy that its spans contain, as a text. */
export const tracedText = (node: ProxyNode): string => {
  const { labels, clusterId, meshId, namespace, cluster, tracing } = node;
  const canonical = canonicalLabels.map((name) => labels[name] ?? '');
  return JSON.stringify([canonical, clusterId, meshId, namespace, cluster, tracing ?? null]);
};

/** Returns the tracer with a name, in any case; undefined if a provider of another kind has it. */
function tracerNamed(
  { providers }: Pick<MeshConfig, 'providers'>,
  name: string | undefined,
): Tracer | undefined {
  const provider = providers.find(
    (candidate) => candidate.name.toLowerCase() === name?.toLowerCase(),
  );
  return provider !== undefined && isTracer(provider) ? provider : undefined;
}

function spansBy(
  node: ProxyNode,
  { sampling, customTags, istioTags }: Omit<ProxyTracing, 'maxPathTagLength'>,
  { maxPathTagLength }: Pick<ProxyTracing, 'maxPathTagLength'>,
): TracingMessage {
  const tags = [...(istioTags === 'on' ? tagsOfIstio(node) : []), ...customTags.map(tagMessage)];
  return {
    clientSampling: { value: 100 },
    randomSampling: { value: sampling },
    overallSampling: { value: 100 },
    ...(maxPathTagLength !== undefined && { maxPathTagLength }),
    customTags: tags.sort((a, b) => byText(a.tag ?? '', b.tag ?? '')),
  };
}

const tagsOfIstio = ({
  labels,
  clusterId,
  meshId,
  namespace,
}: ProxyNode): readonly TagMessage[] => [
  ...dryRunTags,
  literal('istio.canonical_revision', labels[canonicalRevision] ?? 'latest'),
  literal('istio.canonical_service', labels[canonicalName] ?? 'unknown'),
  literal('istio.cluster_id', clusterId === '' ? 'unknown' : clusterId),
  literal('istio.mesh_id', meshId === '' ? 'unknown' : meshId),
  literal('istio.namespace', namespace),
];

function tagMessage(custom: CustomTag): TagMessage {
  if (custom.type === 'literal') return literal(custom.tag, custom.value);
  const { tag, type, name, defaultValue } = custom;
  const kind = type === 'environment' ? 'environment' : 'requestHeader';
  return { tag, type: { case: kind, value: { name, defaultValue } } };
}

const literal = (tag: string, value: string): TagMessage => ({
  tag,
  type: { case: 'literal', value: { value } },
});

/** The tags of authorization policies in dry-run mode. */
const dryRunTags: readonly TagMessage[] = [
  ['allow_policy.name', 'allow_shadow_effective_policy_id'],
  ['allow_policy.result', 'allow_shadow_engine_result'],
  ['deny_policy.name', 'deny_shadow_effective_policy_id'],
  ['deny_policy.result', 'deny_shadow_engine_result'],
].map(([tag = '', key = '']) => ({
  tag: `istio.authorization.dry_run.${tag}`,
  type: {
    case: 'metadata',
    value: {
      kind: { kind: { case: 'request', value: {} } },
      metadataKey: {
        key: 'envoy.filters.http.rbac',
        path: [{ segment: { case: 'key', value: `istio_dry_run_${key}` } }],
      },
    },
  },
}));
