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

/**
 * The inputs of a configuration under test, with the parsed content instead of files and texts.
 */
export interface TestConfig extends Partial<Omit<ConfigInputs, 'layers' | 'surroundings'>> {
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
 * Resolves the configuration of a test. The defaults are those of a machine with one address.
 */
export function resolved({
  mesh,
  proxyConfig,
  annotation,
  annotations = {},
  layers,
  env = {},
  ...inputs
}: TestConfig = {}): ResolvedConfig {
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

/** Resolves the configuration of a test, and fails the test if it has problems. */
export function accepted(
  testConfig: TestConfig = {},
): Extract<ResolvedConfig, { readonly ok: true }> {
  const result = resolved(testConfig);
  return result.ok ? result : expect.unreachable(JSON.stringify(result.problems));
}

export function configOf(testConfig: TestConfig = {}): AgentConfig {
  return accepted(testConfig).config;
}

/** Returns all problems of a configuration. */
export function problemsOf(testConfig: TestConfig): readonly Problem[] {
  const result = resolved(testConfig);
  return result.ok ? [] : result.problems;
}

/**
 * Returns all problems of a configuration; if it has none, the fields that are left out with a
 * warning.
 */
export function flawsOf(testConfig: TestConfig): readonly Problem[] {
  const result = resolved(testConfig);
  if (!result.ok) return result.problems;
  return result.warnings.flatMap((warning) => {
    const [, place, text] = /^(\S+): (.*): .* (?:is|are) left out$/s.exec(warning) ?? [];
    return place === undefined || text === undefined ? [] : [{ place, text }];
  });
}
