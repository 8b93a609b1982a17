import type { Environment } from '../../environment/environment.ts';

/**
 * Whether the workloads of a namespace may be asked for mutual TLS: not where the namespace, or the
 * mesh where that says nothing, has it disabled.
 */
export function serviceModeOf(
  { mesh, peerAuthentications }: Environment,
  namespace: string,
): 'disable' | 'mutual' {
  const modeOf = (place: string) => {
    const rule = peerAuthentications
      .get(place)
      ?.find(({ spec }) => Object.keys(spec.selector ?? {}).length === 0);
    return rule === undefined || rule.spec.mode === 'unset' ? undefined : rule.spec.mode;
  };
  return (modeOf(namespace) ?? modeOf(mesh.rootNamespace)) === 'disable' ? 'disable' : 'mutual';
}
