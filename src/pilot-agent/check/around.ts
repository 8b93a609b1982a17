import { resolve } from 'node:path';
import type { EpochConfig } from '../../epochs/ports.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import { isMap } from '../../shared/text/split-content.ts';
import { parseText } from '../config/parse-text.ts';
import { largest, readOutside } from '../../shared/files/outside-file.ts';
import { mergeOverride } from '../../proxy/merge-override.ts';
import { type AgentHere, agentsHere } from '../run/end/agents-here.ts';
import { usableConfig } from '../run/check-config.ts';
import { type CommandLine, problemsAsFatal, readConfig } from '../run/start/effective-config.ts';
import { noFacts } from '../run/start/facts.ts';
import { makeConfig, readShape } from '../run/start/make-config.ts';
import { type SecretsPlan, secretsPlan } from '../run/secrets/secrets-plan.ts';
import { type XdsPlan, xdsPlan } from '../run/secrets/xds-plan.ts';
import type { ResolvedConfig } from '../config/resolve-config.ts';

/**
 * The configuration that an agent with this command line would use, and the agent that already
 * runs.
 */
export interface Around {
  readonly resolved: ResolvedConfig;
  /** The configuration, as far as it is known. */
  readonly config: AgentConfig;
  readonly isCertain: ReturnType<typeof usableConfig>['isCertain'];
  readonly plan: SecretsPlan;
  readonly xds: XdsPlan | undefined;
  /** The configuration that Envoy would start from. */
  readonly epochConfig: EpochConfig;
  /** Its parsed content; undefined if it cannot be read. */
  readonly bootstrap: Readonly<Record<string, unknown>> | undefined;
  /** The running agent that has this `--configPath`. */
  readonly agent: AgentHere | undefined;
}

/**
 * Reads everything that several checks need. Rejects with a {@link Fatal} (64) if the command line
 * itself is wrong.
 */
export async function aroundOf(line: CommandLine): Promise<Around> {
  const [resolved, agents] = await Promise.all([readConfig(line), agentsHere()]);
  if (!resolved.ok && resolved.usage) throw problemsAsFatal(resolved);
  const { config, isCertain } = usableConfig(resolved);
  const plan = secretsPlan(config);
  const xds = xdsPlan(config, plan);
  const envoyConfig = makeConfig(config, readShape(config), {
    facts: noFacts,
    sds: plan.sds,
    xdsSocket: xds?.socket,
  }).config;
  const bootstrap = await contentOf(envoyConfig);
  const agent = agents.find(({ configPath }) => configPath === resolve(config.configPath));
  return { resolved, config, isCertain, plan, xds, epochConfig: envoyConfig, bootstrap, agent };
}

const noLimits = { characters: Infinity, tokens: Infinity, values: Infinity, levels: Infinity };

async function contentOf(
  envoyConfig: EpochConfig,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (envoyConfig.kind === 'refused') return undefined;
  const merged = envoyConfig.override === '' ? undefined : await mergeOverride(envoyConfig);
  const unmerged = () =>
    envoyConfig.kind === 'generated' ? envoyConfig.text : textOf(envoyConfig.path);
  const content = await parseText(merged?.ok === true ? merged.text : await unmerged(), noLimits);
  return content.ok && isMap(content.value) ? content.value : undefined;
}

async function textOf(path: string): Promise<string> {
  const file = await readOutside(path, largest.envoy);
  return file.kind === 'read' ? file.bytes.toString() : '';
}
