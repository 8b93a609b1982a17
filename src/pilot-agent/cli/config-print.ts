import type { GivenFlags } from '../config/flag-layer.ts';
import type { GivenLogFlags } from '../../shared/log/log-options.ts';
import { printable, printableJson } from '../../shared/log/printable.ts';
import { checkedConfig } from '../run/check-config.ts';
import { readConfig } from '../run/start/effective-config.ts';
import { presentConfig, type PresentedConfig } from '../run/start/present-config.ts';

export interface ConfigPrintOptions extends GivenLogFlags {
  /** `table`, `json` or `yaml`. */
  readonly output: string;
}

/**
 * `pilot-agent config print`: writes each value of the configuration and its source. Secrets are
 * hidden. Rejects as `proxy` does.
 */
export async function configPrint(
  given: GivenFlags,
  leftover: readonly string[],
  { output, ...logFlags }: ConfigPrintOptions,
): Promise<void> {
  const { config, sources, warnings } = await checkedConfig(
    await readConfig({ given, leftover, logFlags }),
  );
  for (const warning of warnings) console.error(`pilot-agent: ${printable(warning)}`);
  const shown = presentConfig({ config, sources });
  if (output === 'yaml') console.log((await import('yaml')).stringify(shown).trimEnd());
  else
    console.log(
      output === 'json'
        ? printableJson(JSON.stringify(shown, undefined, 2))
        : printable(table(shown)),
    );
}

function table(shown: PresentedConfig): string {
  const rows = Object.entries(shown).map(([name, { value, source }]) => [
    name,
    cell(value),
    source,
  ]);
  const cells = [['NAME', 'VALUE', 'SOURCE'], ...rows];
  // A long value shifts only its own source.
  const [names, values] = [0, 1].map((column) =>
    Math.min(48, Math.max(...cells.map((row) => row[column]?.length ?? 0))),
  );
  return cells
    .map(
      ([name = '', value = '', source = '']) =>
        `${name.padEnd(names ?? 0)}  ${value.padEnd(values ?? 0)}  ${source}`,
    )
    .join('\n');
}

function cell(value: unknown): string {
  if (value === null || value === '') return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
