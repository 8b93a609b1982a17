import type { Environment } from '../../environment/environment.ts';
import type { Resource } from '../../istio/documents/model.ts';
import { selects } from './peer-authentication-of.ts';
import type { ProxyNode } from './proxy-node.ts';

/**
 * Returns the Telemetry resources of a proxy: that of the root namespace, that of its namespace,
 * and those that select it. Later ones have precedence. If several of a namespace have no selector,
 * only the oldest is used.
 */
export function telemetriesOf(
  { mesh, telemetries }: Pick<Environment, 'mesh' | 'telemetries'>,
  { namespace, labels }: Pick<ProxyNode, 'namespace' | 'labels'>,
): readonly Resource<'Telemetry'>[] {
  const wide = [...new Set([mesh.rootNamespace, namespace])].map((place) =>
    telemetries.get(place)?.find(isWide),
  );
  const selecting = (telemetries.get(namespace) ?? []).filter(
    (telemetry) =>
      telemetry.spec.for === 'workloads' &&
      !isWide(telemetry) &&
      selects(telemetry.spec.selector ?? {}, labels),
  );
  return [...wide.filter((telemetry) => telemetry !== undefined), ...selecting];
}

/** Returns whether a Telemetry is for all workloads. */
const isWide = ({ spec }: Resource<'Telemetry'>): boolean =>
  spec.for === 'workloads' && Object.keys(spec.selector ?? {}).length === 0;

/** Returns the inputs of {@link telemetriesOf}, apart from the labels of the proxy. */
export const partsOfTelemetries = (
  { mesh, telemetries }: Pick<Environment, 'mesh' | 'telemetries'>,
  { namespace }: Pick<ProxyNode, 'namespace'>,
): readonly unknown[] => [telemetries.get(mesh.rootNamespace), telemetries.get(namespace)];
