import { lastValueFrom } from 'rxjs';
import type { GivenFlags } from '../config/flag-layer.ts';
import type { GivenLogFlags } from '../../shared/log/log-options.ts';
import { parseText } from '../config/parse-text.ts';
import { bytesOutside, largest } from '../../shared/files/outside-file.ts';
import { printable, printableJson } from '../../shared/log/printable.ts';
import { platform } from '../bootstrap/platform.ts';
import { explainRefusal } from '../envoy/explain-refusal.ts';
import { checkCustomConfig, checkedConfig } from '../run/check-config.ts';
import { readConfig } from '../run/start/effective-config.ts';
import { allOf, exitCodes, Fatal } from '../../shared/program/exit.ts';
import { factsOf, noFacts } from '../run/start/facts.ts';
import { makeConfig, readShape } from '../run/start/make-config.ts';
import { envoyBinary } from '../run/start/hold-folder.ts';
import { tryConfig } from '../run/start/try-config.ts';

export interface PrintBootstrapOptions extends GivenLogFlags {
  /** `json` or `yaml`. */
  readonly output: string;
  readonly validate?: boolean;
}

/**
 * `pilot-agent bootstrap`: writes the configuration from which `proxy` with the same arguments
 * would start Envoy, before the override is merged. Rejects with a {@link Fatal} if there is none,
 * and, with `validate`, if Envoy refuses it.
 */
export async function printBootstrap(
  given: GivenFlags,
  leftover: readonly string[],
  options: PrintBootstrapOptions,
): Promise<void> {
  const { output, validate: isChecked, ...logFlags } = options;
  const read = await readConfig({ given, leftover, logFlags });
  const [{ config, warnings, plan, xds }] = await allOf([
    () => checkedConfig(read),
    () => checkCustomConfig(read),
  ]);
  const facts = await lastValueFrom(factsOf(platform(config))(config), { defaultValue: noFacts });
  const built = makeConfig(config, readShape(config), {
    facts,
    sds: plan.sds,
    xdsSocket: xds?.socket,
  });
  for (const warning of [...warnings, ...plan.warnings, ...built.warnings])
    console.error(`pilot-agent: ${printable(warning)}`);
  if (built.config.kind === 'refused') throw new Fatal(built.config.reason, exitCodes.config);
  const verdict =
    isChecked === true
      ? await tryConfig(config, built.config, envoyBinary(config.binaryPath))
      : undefined;
  if (verdict?.kind === 'refused') {
    const { reason, excerpt } = await explainRefusal(
      built.config,
      verdict.reason,
      envoyBinary(config.binaryPath),
    );
    throw new Fatal(`Envoy refuses it: ${reason}`, exitCodes.config, { excerpt });
  }
  if (verdict?.kind === 'unchecked')
    throw new Fatal(`Envoy could not check it: ${verdict.reason}`, exitCodes.unavailable);
  const text =
    built.config.kind === 'given'
      ? (await bytesOutside(built.config.path, largest.envoy)).toString()
      : built.config.text;
  process.stdout.write(await printed(text, output));
}

async function printed(text: string, output: string): Promise<string> {
  const content = await parseText(text, {
    characters: Infinity,
    tokens: Infinity,
    values: Infinity,
    levels: Infinity,
  });
  if (!content.ok)
    throw new Fatal(`the configuration is not YAML: ${content.reason}`, exitCodes.config);
  if (output === 'json') return `${printableJson(JSON.stringify(content.value, undefined, 2))}\n`;
  return (await import('yaml')).stringify(content.value);
}
