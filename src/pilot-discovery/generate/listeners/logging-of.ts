import type { Resource } from '../../istio/documents/model.ts';
import type { MeshConfig } from '../../istio/mesh/mesh-config.ts';
import type { CallSide } from '../../istio/telemetry/telemetry.ts';

/** The calls of one side that a provider logs: none, or those that pass the filter ('' is all). */
export interface ProviderLogging {
  readonly logging: 'on' | 'off';
  readonly filter: string;
}

/** The keys are names of providers in lower case. */
type Logging = ReadonlyMap<string, ProviderLogging>;

const everything: ProviderLogging = { logging: 'on', filter: '' };

/**
 * Returns what each provider logs of one side. The Telemetry resources go from the mesh to the
 * workload, and the last list of providers replaces the others. An entry without providers has
 * those of the entry before it.
 */
export function loggingOf(
  { defaultProviders }: Pick<MeshConfig, 'defaultProviders'>,
  telemetries: readonly Resource<'Telemetry'>[],
  side: CallSide,
): Logging {
  const lists = telemetries
    .map(({ spec }) =>
      spec.accessLogging.map((entry) => ({ ...entry, providers: entry.providers.map(lower) })),
    )
    .filter((entries) => entries.length > 0);
  const ownDefault = defaultProviders.accessLogging.map(lower);
  if (lists.length === 0) return new Map(ownDefault.map((name) => [name, everything]));

  const listsOfSide = lists.map((entries) => entries.filter(({ sides }) => sides.includes(side)));
  const filters = new Map(
    listsOfSide.flat().flatMap(({ providers, filter }) => providers.map((name) => [name, filter])),
  );
  const named = listsOfSide
    .map((entries) => entries.flatMap(({ providers }) => providers))
    .filter((names) => names.length > 0);
  const usedProviders = new Set(named.at(-1) ?? ownDefault);
  const logging = new Map<string, ProviderLogging>();
  let before = ownDefault;
  for (const entry of lists.flat()) {
    before = entry.providers.length > 0 ? entry.providers : before;
    if (!entry.sides.includes(side)) continue;
    for (const name of before.filter((provider) => usedProviders.has(provider)))
      logging.set(name, { logging: entry.logging, filter: filters.get(name) ?? '' });
  }
  return logging;
}

const lower = (name: string): string => name.toLowerCase();
