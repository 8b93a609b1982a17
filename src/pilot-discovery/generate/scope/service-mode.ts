import type { Environment } from '../../environment/environment.ts';

/**
 * Returns whether mutual TLS may be used with the workloads of a namespace. It may not if the
 * namespace disables it, or if the mesh does and the namespace sets no mode.
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
