import type { MeshConfig } from '../../istio/mesh/mesh-config.ts';
import type { Resource } from '../../istio/documents/model.ts';
import type { CallSide, TracingEntry } from '../../istio/telemetry/telemetry.ts';

/** How calls are traced; a field is undefined if no resource sets it. */
export type CallTracing = Omit<TracingEntry, 'sides'>;

const nothing: CallTracing = {
  provider: undefined,
  spans: undefined,
  sampling: undefined,
  customTags: undefined,
  istioTags: undefined,
  sampledBy: undefined,
};

/**
 * Returns how the calls of one side are traced; undefined if neither a Telemetry nor the
 * `defaultProviders` of the mesh configure tracing. The Telemetry resources go from the mesh to the
 * workload, and each field is that of the last entry that has it.
 */
export function tracingOf(
  { defaultProviders }: Pick<MeshConfig, 'defaultProviders'>,
  telemetries: readonly Resource<'Telemetry'>[],
  side: CallSide,
): CallTracing | undefined {
  const entries = telemetries.flatMap(({ spec }) => spec.tracing);
  const [provider] = defaultProviders.tracing;
  if (entries.length === 0 && provider === undefined) return undefined;
  return entries
    .filter(({ sides }) => sides.includes(side))
    .reduce<CallTracing>(
      (before, entry) => ({
        provider: entry.provider ?? before.provider,
        spans: entry.spans ?? before.spans,
        sampling: entry.sampling ?? before.sampling,
        customTags: entry.customTags ?? before.customTags,
        istioTags: entry.istioTags ?? before.istioTags,
        sampledBy: entry.sampledBy ?? before.sampledBy,
      }),
      { ...nothing, provider },
    );
}
