import type { Problem } from '../config/resolve-config.ts';
import type { BootstrapInputs } from './bootstrap-inputs.ts';

/** Each port that is to be listened at twice, by Envoy or by the agent. Pure. */
export function portClashes({ config, prometheusPort, healthPort }: BootstrapInputs): readonly Problem[] {
  const ports = [
    ['proxyAdminPort', config.proxyAdminPort],
    ['statusPort', config.statusPort],
    ['ENVOY_PROMETHEUS_PORT', prometheusPort],
    ['ENVOY_STATUS_PORT', config.statusPort > 0 ? healthPort : 0],
  ] as const;
  return ports.flatMap(([place, port], index) => {
    const [other] = ports.slice(0, index).find(([, taken]) => port > 0 && taken === port) ?? [];
    return other === undefined ? [] : [{ place, text: `${port} is the port of ${other} already` }];
  });
}
