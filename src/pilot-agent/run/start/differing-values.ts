import { environment } from '../../config/environment.ts';
import { resolveConfig } from '../../config/resolve-config.ts';
import { noLayers } from '../../config/text-layers.ts';
import { presentConfig, type PresentedConfig } from './present-config.ts';

/** The limit of one value. In characters. */
const longest = 60;
/** Every process has this variable, and it configures nothing. */
const usual = 'PATH';

/**
 * Lists the values that differ from the defaults, each with its source, for one line of the log:
 * `--concurrency=2, CA_ADDR=ca:15012, drainDuration=30s (PROXY_CONFIG)`. Metadata of the node are
 * left out. Pure.
 *
 * @param addresses the addresses of this machine, which name the node if nothing else does
 */
export function differingValues(shown: PresentedConfig, addresses: readonly string[]): string {
  const nothing = resolveConfig({
    given: {},
    leftover: [],
    surroundings: environment({}),
    addresses,
    layers: noLayers,
  });
  const standard = nothing.ok ? presentConfig(nothing) : {};
  return Object.entries(shown)
    .filter(
      ([name, { value }]) =>
        Object.hasOwn(standard, name) &&
        name !== usual &&
        text(value) !== text(standard[name]?.value),
    )
    .map(([name, { value, source }]) => {
      const shortened = cut(text(value));
      if (source === `$${name}`) return `${name}=${shortened}`;
      return source === `--${name}` ? `${source}=${shortened}` : `${name}=${shortened} (${source})`;
    })
    .join(', ');
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function cut(whole: string): string {
  return whole.length > longest ? `${whole.slice(0, longest)}…` : whole;
}
