import type { AgentConfig } from './agent-config.ts';

/** Arguments of Envoy: `--log-level` and `--component-log-level`. Empty: Envoy's default. */
export interface EnvoyLogLevels {
  readonly logLevel: string;
  readonly componentLogLevel: string;
}

/**
 * Returns Envoy's levels. Levels of components may follow the level in `--proxyLogLevel`, as in the
 * Go agent 1.30; they come last, so that they win over `--proxyComponentLogLevel` and its default.
 * Pure.
 */
export function envoyLogLevels({
  proxyLogLevel,
  proxyComponentLogLevel,
}: Pick<AgentConfig, 'proxyLogLevel' | 'proxyComponentLogLevel'>): EnvoyLogLevels {
  const [logLevel = '', ...components] = proxyLogLevel.split(',');
  const named = new Map(
    [...proxyComponentLogLevel.split(','), ...components].filter((part) => part !== '').map(split),
  );
  return {
    logLevel,
    componentLogLevel: [...named].map(([name, level]) => `${name}:${level}`).join(','),
  };
}

function split(part: string): readonly [name: string, level: string] {
  const end = part.lastIndexOf(':');
  return [part.slice(0, end), part.slice(end + 1)];
}
