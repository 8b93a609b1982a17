import { networkInterfaces } from 'node:os';
import { environmentMetadata } from '../bootstrap/environment-metadata.ts';
import type { Findings } from '../bootstrap/findings.ts';
import type { GivenFlags } from '../config/flag-layer.ts';
import { flags } from '../config/flags.ts';
import { type GivenLogFlags, type LogOptions, logOptions } from '../config/log-options.ts';
import { resolveConfig, type ResolvedConfig } from '../config/resolve-config.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';
import { readLayers } from './read-layers.ts';

/** A configuration that is in order, and how to log. */
export interface EffectiveConfig extends Omit<Extract<ResolvedConfig, { readonly ok: true }>, 'ok'> {
  readonly logging: LogOptions;
}

/**
 * The configuration of this process: of its command line, environment and files.
 *
 * Rejects with a {@link Fatal} that tells all that is wrong: 64 if that is the command line alone, 78 if files, PROXY_CONFIG or annotations are
 * part of it.
 *
 * @param given the flags that were given, by name
 * @param leftover the arguments that no flag took
 * @param logFlags the flags about logging that were given
 */
export async function effectiveConfig(
  given: GivenFlags,
  leftover: readonly string[],
  logFlags: GivenLogFlags = {},
): Promise<EffectiveConfig> {
  const { env } = process;
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const addresses = interfaces.filter(({ internal }) => !internal).map(({ address }) => address);
  const layers = await readLayers(given.meshConfig ?? flags.meshConfig.default, env);
  const resolved = resolveConfig({ given, leftover, env, addresses, layers });
  const logging = logOptions(logFlags);
  if (resolved.ok && logging.ok) return { ...resolved, logging: logging.options, warnings: [...resolved.warnings, ...logging.warnings] };
  const metadata: Findings = { problems: [], warnings: [] };
  if (given.customConfigFile === undefined) environmentMetadata(env, metadata); // or it would be told only when all else is mended
  const problems = [...[resolved, logging].flatMap((result) => (result.ok ? [] : result.problems)), ...metadata.problems];
  const all = problems.map(({ place, text }) => `${place}: ${text}`).join('; ');
  throw new Fatal(all, (resolved.ok || resolved.usage) && metadata.problems.length === 0 ? exitCodes.usage : exitCodes.config);
}
