import type { GivenFlags } from '../config/flag-layer.ts';
import type { GivenLogFlags } from '../config/log-options.ts';
import { effectiveConfig } from './effective-config.ts';
import { exitCodes } from './exit-codes.ts';
import { Fatal } from './fatal.ts';

export interface ConfigPrintOptions extends GivenLogFlags {
  /** `table`, `json` or `yaml`. */
  readonly output: string;
}

/** `pilot-agent config print`: writes each value of the configuration and where it is from. Secrets are struck out. Rejects as `proxy` does. */
export async function configPrint(
  given: GivenFlags,
  leftover: readonly string[],
  { output, ...logFlags }: ConfigPrintOptions,
): Promise<void> {
  if (!['table', 'json', 'yaml'].includes(output)) throw new Fatal("--output must be 'table', 'json' or 'yaml'", exitCodes.usage);
  const { config, sources, warnings } = await effectiveConfig(given, leftover, logFlags);
  for (const warning of warnings) console.error(`pilot-agent: ${warning}`);
  const shown = JSON.parse(JSON.stringify(config, presentable)) as Readonly<Record<string, unknown>>;
  const rows = Object.entries(sources).map(([name, source]): Row => ({ name, value: shown[name] ?? null, source }));
  console.log(output === 'table' ? table(rows) : await document(rows, output));
}

interface Row {
  readonly name: string;
  readonly value: unknown;
  readonly source: string;
}

/** A value as PROXY_CONFIG has it: times with their unit, and nothing where there is a secret. */
function presentable(name: string, value: unknown): unknown {
  if (typeof value === 'number' && isTime(name)) return `${value / 1000}s`;
  return typeof value === 'string' && value !== '' && isSecret(name) ? '***' : value;
}

function isTime(name: string): boolean {
  return /Duration$|^(?:connectTimeout|dnsRefreshRate|minDelay|drainCap|drainMinimum|time|interval)$/.test(name);
}

/** Of the agent's own fields that is the token of LightStep; `proxyMetadata` may have others. */
function isSecret(name: string): boolean {
  return /(?:token|secret|password|credential|(?:api|access)_?key)s?$/i.test(name);
}

function table(rows: readonly Row[]): string {
  const cells = [['NAME', 'VALUE', 'SOURCE'], ...rows.map(({ name, value, source }) => [name, cell(value), source])];
  // A long value pushes its own source aside, not all of them.
  const [names, values] = [0, 1].map((column) => Math.min(48, Math.max(...cells.map((row) => row[column]?.length ?? 0))));
  return cells
    .map(([name = '', value = '', source = '']) => `${name.padEnd(names ?? 0)}  ${value.padEnd(values ?? 0)}  ${source}`)
    .join('\n');
}

function cell(value: unknown): string {
  if (value === null || value === '') return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function document(rows: readonly Row[], output: string): Promise<string> {
  const content = Object.fromEntries(rows.map(({ name, value, source }) => [name, { value, source }]));
  if (output === 'json') return JSON.stringify(content, undefined, 2);
  return (await import('yaml')).stringify(content).trimEnd();
}
