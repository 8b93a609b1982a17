import { expect } from 'vitest';
import { environment } from '../../src/pilot-agent/config/environment.ts';
import type { Layers } from '../../src/pilot-agent/config/text-layers.ts';
import {
  type ConfigInputs,
  resolveConfig,
  type ResolvedConfig,
} from '../../src/pilot-agent/config/resolve-config.ts';
import type { Problem } from '../../src/shared/text/value.ts';
import type { AgentConfig } from '../../src/pilot-agent/config/agent-config.ts';

/** What a test says of a configuration. The contents of texts are given as what is in them. */
export interface Said extends Partial<Omit<ConfigInputs, 'layers' | 'surroundings'>> {
  readonly env?: NodeJS.ProcessEnv;
  /** `defaultConfig` of the mesh file. */
  readonly mesh?: unknown;
  readonly proxyConfig?: unknown;
  /** `proxy.istio.io/config`. */
  readonly annotation?: unknown;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly layers?: Partial<Layers>;
}

/**
 * The configuration of a test. Without a word it is the defaults, on a machine with one address.
 */
export function resolved({
  mesh,
  proxyConfig,
  annotation,
  annotations = {},
  layers,
  env = {},
  ...inputs
}: Said = {}): ResolvedConfig {
  const content = (value: unknown) =>
    value === undefined ? undefined : ({ ok: true, value } as const);
  return resolveConfig({
    given: {},
    leftover: [],
    surroundings: environment(env),
    addresses: ['10.1.2.3'],
    ...inputs,
    layers: {
      mesh:
        mesh === undefined
          ? undefined
          : { path: 'mesh.yaml', content: { ok: true, value: { defaultConfig: mesh } } },
      proxyConfig: content(proxyConfig),
      annotation: content(annotation),
      annotations,
      warnings: [],
      ...layers,
    },
  });
}

/** The same, which has to be in order. */
export function accepted(said: Said = {}): Extract<ResolvedConfig, { readonly ok: true }> {
  const result = resolved(said);
  return result.ok ? result : expect.unreachable(JSON.stringify(result.problems));
}

export function configOf(said: Said = {}): AgentConfig {
  return accepted(said).config;
}

/** All that is wrong with it. */
export function problemsOf(said: Said): readonly Problem[] {
  const result = resolved(said);
  return result.ok ? [] : result.problems;
}

/** All that is wrong; where nothing is refused, what is left out with a warning. */
export function flawsOf(said: Said): readonly Problem[] {
  const result = resolved(said);
  if (!result.ok) return result.problems;
  return result.warnings.flatMap((warning) => {
    const [, place, text] = /^(\S+): (.*): .* (?:is|are) left out$/s.exec(warning) ?? [];
    return place === undefined || text === undefined ? [] : [{ place, text }];
  });
}
