import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncScheduler, lastValueFrom } from 'rxjs';
import type { EpochConfig, Verdict } from '../agent/ports.ts';
import type { GivenFlags } from '../config/flag-layer.ts';
import type { GivenLogFlags } from '../config/log-options.ts';
import { parseText } from '../config/parse-text.ts';
import { findExecutable } from '../envoy/find-envoy.ts';
import { bytesOutside, largest } from '../files/outside-file.ts';
import { envoyLogFormat } from '../log/envoy-lines.ts';
import { printable } from '../log/printable.ts';
import { nodeString } from '../node/node-id.ts';
import { platform } from '../node/platform.ts';
import { withConfigFile } from '../proxy/config-file.ts';
import { envoyArgs } from '../proxy/envoy-args.ts';
import { validate } from '../proxy/preflight.ts';
import { limits, workerThreads } from '../proxy/limits.ts';
import { checkCustomConfig, checkedConfig } from '../run/check-config.ts';
import { readConfig } from '../run/effective-config.ts';
import { allOf, exitCodes, Fatal } from '../run/exit.ts';
import { factsOf, noFacts } from '../run/facts.ts';
import { makeConfig, readShape } from '../run/make-config.ts';
import { envoyBinary } from '../run/prepare.ts';
import type { AgentConfig } from '../config/agent-config.ts';

export interface PrintBootstrapOptions extends GivenLogFlags {
  /** `json` or `yaml`. */
  readonly output: string;
  readonly validate?: boolean;
}

/**
 * `pilot-agent bootstrap`: writes what `proxy` with the same arguments would start Envoy from,
 * before the override is laid over it. Rejects with a {@link Fatal} where that is nothing, and, if
 * it is to be validated, where Envoy refuses it.
 */
export async function printBootstrap(given: GivenFlags, leftover: readonly string[], options: PrintBootstrapOptions): Promise<void> {
  if (!['json', 'yaml'].includes(options.output)) throw new Fatal("--output must be 'json' or 'yaml'", exitCodes.usage);
  const { output, validate: isChecked, ...logFlags } = options;
  const read = await readConfig({ given, leftover, logFlags });
  const [{ config, warnings, plan, xds }] = await allOf([() => checkedConfig(read), () => checkCustomConfig(read)]);
  const facts = await lastValueFrom(factsOf(platform(config))(config), { defaultValue: noFacts });
  const made = makeConfig(config, readShape(config), { facts, sds: plan.sds, xdsSocket: xds?.socket });
  for (const warning of [...warnings, ...plan.warnings, ...made.warnings]) console.error(`pilot-agent: ${printable(warning)}`);
  if (made.config.kind === 'refused') throw new Fatal(made.config.reason, exitCodes.config);
  const verdict = isChecked === true ? await tried(config, made.config) : undefined;
  if (verdict?.ok === false) throw new Fatal(`Envoy refuses it: ${verdict.reason}`, exitCodes.config);
  if (verdict !== undefined && verdict.ok === undefined)
    throw new Fatal(`Envoy could not check it: ${verdict.reason}`, exitCodes.unavailable);
  const text = made.config.kind === 'given' ? (await bytesOutside(made.config.path, largest.envoy)).toString() : made.config.text;
  process.stdout.write(await printed(text, output));
}

async function tried(config: AgentConfig, made: EpochConfig): Promise<Verdict> {
  const binary = envoyBinary(config.binaryPath);
  const [mkfifo, setpriv, sh] = ['mkfifo', 'setpriv', 'sh'].map((name) => findExecutable(name, config.searchPath));
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-bootstrap-'));
  const args = {
    ...config,
    concurrency: workerThreads(config.concurrency, limits(config.cpuLimit)),
    serviceNode: nodeString(config.role, config.node),
    ipv6: config.node.ipv6,
    logFormat: envoyLogFormat,
    logLevel: config.proxyLogLevel,
    componentLogLevel: config.proxyComponentLogLevel,
  };
  const verdict$ = withConfigFile<Verdict>(made, join(folder, 'envoy-check'), {
    failed: (reason) => ({ ok: false, reason }),
    use: (path) =>
      validate({
        binary,
        args: envoyArgs(args, { config: path, override: '', restartEpoch: 0 }),
        folder,
        tools: { mkfifo, setpriv, sh },
        alone: () => false,
        scheduler: asyncScheduler,
      }),
  });
  return lastValueFrom(verdict$, { defaultValue: { ok: false, reason: 'it says nothing' } }).finally(() =>
    rmSync(folder, { recursive: true }),
  );
}

async function printed(text: string, output: string): Promise<string> {
  const content = await parseText(text, { characters: Infinity, tokens: Infinity, values: Infinity, levels: Infinity });
  if (!content.ok) throw new Fatal(`the configuration is not YAML: ${content.reason}`, exitCodes.config);
  if (output === 'json') return `${JSON.stringify(content.value, undefined, 2)}\n`;
  return (await import('yaml')).stringify(content.value);
}
