import type { HttpProbe } from '../config/app-probes.ts';
import { isSecretName } from '../config/passed-on.ts';
import type { Sources } from '../config/sources.ts';
import type { AgentConfig } from '../config/agent-config.ts';

/** Each value by its name, as JSON can have it, and where it is from. */
export type PresentedConfig = Readonly<Record<string, { readonly value: unknown; readonly source: string }>>;

/**
 * A configuration for people: times with their unit, `null` for what is not there, and `***` where
 * there is a secret. Pure.
 */
export function presentConfig({ config, sources }: { readonly config: AgentConfig; readonly sources: Sources }): PresentedConfig {
  const shown = JSON.parse(JSON.stringify(config, presentable)) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, { value: shown[name] ?? null, source }]));
}

/** A value as PROXY_CONFIG has it: times with their unit, and nothing where there is a secret. */
function presentable(name: string, value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value);
  if (name === 'headers' && Array.isArray(value)) return (value as HttpProbe['headers']).map(([header]) => [header, '***']);
  if (typeof value === 'number' && isTime(name)) return `${value / 1000}s`;
  return typeof value === 'string' && value !== '' && isSecretName(name) ? '***' : value;
}

function isTime(name: string): boolean {
  return /Duration$|^(?:connectTimeout|dnsRefreshRate|minDelay|drainCap|drainMinimum|readinessTimeout|time|interval|timeout|ttl|initialBackOff)$/.test(name); // prettier-ignore
}
