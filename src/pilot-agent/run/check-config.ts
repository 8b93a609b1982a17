import { EMPTY } from 'rxjs';
import type { AgentConfig } from '../config/agent-config.ts';
import { largest, readOutsideSync } from '../../shared/files/outside-file.ts';
import type { ResolvedConfig, Rest } from '../config/resolve-config.ts';
import { type EffectiveConfig, problemsAsFatal } from './start/effective-config.ts';
import { allOf, exitCodes, Fatal } from '../../shared/program/exit.ts';
import { noFacts } from './start/facts.ts';
import { makeConfig, readShape } from './start/make-config.ts';
import { type SecretsPlan, secretsPlan } from './secrets/secrets-plan.ts';
import { workloadSecrets } from './secrets/workload-secrets.ts';
import { type XdsPlan, xdsPlan } from './secrets/xds-plan.ts';

/** A valid configuration, and what follows from it. */
export interface CheckedConfig extends EffectiveConfig {
  readonly plan: SecretsPlan;
  /** Undefined if Envoy connects to the control plane itself. */
  readonly xds: XdsPlan | undefined;
}

/** Returns the configuration as far as it is known, valid or not. */
export function usableConfig(resolved: ResolvedConfig): Rest {
  return resolved.ok ? { config: resolved.config, isCertain: () => true } : resolved.rest;
}

/**
 * Checks the configuration, and what it names: metadata, template, authority. Leaves out what
 * depends on the machine, and what follows from a wrong value. Rejects with one {@link Fatal} that
 * lists all mistakes.
 */
export async function checkedConfig(resolved: ResolvedConfig): Promise<CheckedConfig> {
  const { config, isCertain } = usableConfig(resolved);
  const plan = secretsPlan(config);
  const xds = xdsPlan(config, plan);
  const [effective] = await allOf([
    () => inOrder(resolved),
    () =>
      config.customConfigFile === '' &&
      makeable(
        isCertain('proxyBootstrapTemplatePath')
          ? config
          : { ...config, proxyBootstrapTemplatePath: '' },
        plan,
        xds,
      ),
    () => plan.serving.kind !== 'off' && served(config, plan),
  ]);
  return { ...effective, plan, xds };
}

function inOrder(resolved: ResolvedConfig): EffectiveConfig {
  if (resolved.ok) return resolved;
  throw problemsAsFatal(resolved);
}

function makeable(config: AgentConfig, { sds }: SecretsPlan, xds: XdsPlan | undefined): void {
  const { config: epochConfig } = makeConfig(config, readShape(config), {
    facts: noFacts,
    sds,
    xdsSocket: xds?.socket,
  });
  if (epochConfig.kind === 'refused') throw new Fatal(epochConfig.reason, exitCodes.config);
}

function served(config: AgentConfig, plan: SecretsPlan): void {
  const secrets = workloadSecrets(plan, config, EMPTY);
  if (!secrets.ok) throw new Fatal(secrets.reason, exitCodes.config);
}

/** Throws a {@link Fatal} if a custom configuration is given and cannot be read. */
export function checkCustomConfig(resolved: ResolvedConfig): void {
  const { config, isCertain } = usableConfig(resolved);
  const { customConfigFile: file } = config;
  if (file === '' || !isCertain('customConfigFile')) return;
  const read = readOutsideSync(file, largest.envoy);
  if (read.kind !== 'read')
    throw new Fatal(`--customConfigFile ${file} cannot be read: ${read.reason}`, exitCodes.config);
}
