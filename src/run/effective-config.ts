import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { GivenFlags } from '../config/flag-layer.ts';
import { environment } from '../config/environment.ts';
import { misspeltVariables } from '../config/misspelt-variables.ts';
import { parseDownwardApi } from '../config/downward-api.ts';
import { flags } from '../config/flags.ts';
import type { GivenLogFlags } from '../config/log-options.ts';
import { resolveConfig, type ResolvedConfig } from '../config/resolve-config.ts';
import type { Content, Layers } from '../config/text-layers.ts';
import { exitCodes, Fatal } from './exit.ts';

/**
 * What a text of YAML says, of which JSON is a part; an empty text says null. The parser of YAML is
 * loaded only for what is no JSON.
 */
export async function parseText(text: string): Promise<Content> {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return parseYaml(text);
  }
}

async function parseYaml(text: string): Promise<Content> {
  const { LineCounter, parseDocument } = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, merge: true, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    return { ok: false, reason: `line ${line}, column ${col}: ${withoutContent(error.message)}` };
  }
  try {
    return { ok: true, value: document.toJS() as unknown };
  } catch (error) {
    return { ok: false, reason: withoutContent((error as Error).message) }; // an alias without its anchor, or too many
  }
}

/** Some messages end with what was found there, which may be a secret. */
function withoutContent(message: string): string {
  return message.replace(/:? ["'].*$/s, '');
}

/**
 * Where Kubernetes' downward API writes the labels and annotations of the pod, below the working
 * directory as with the Go agent.
 */
export const labelsFile = './etc/istio/pod/labels';
export const annotationsFile = './etc/istio/pod/annotations';

/**
 * Labels or annotations of the pod. A file that is not there has none; one that cannot be used has
 * none either, and a warning says why.
 */
export function readDownward(path: string): { readonly entries: Readonly<Record<string, string>>; readonly warnings: readonly string[] } {
  const ignored = (reason: string) => ({ entries: {}, warnings: [`${path} is ignored: ${reason}`] });
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { entries: {}, warnings: [] } : ignored(`it cannot be read: ${message}`);
  }
  const parsed = parseDownwardApi(text);
  return parsed.ok ? { entries: parsed.entries, warnings: [] } : ignored(parsed.reason);
}

/**
 * Reads and parses the texts of the configuration. A file that is not there is none; one that
 * cannot be read is told.
 */
async function readLayers(meshFile: string, proxyConfig: string | undefined): Promise<Layers> {
  const mesh = meshFile === '' ? undefined : await readMesh(meshFile);
  const { entries: annotations, warnings } = readDownward(annotationsFile);
  return {
    mesh: mesh && { path: meshFile, content: mesh },
    proxyConfig: await parsed(proxyConfig),
    annotation: await parsed(annotations['proxy.istio.io/config']),
    annotations,
    warnings,
  };
}

/** Undefined for a file that is not there. */
async function readMesh(path: string): Promise<Content | undefined> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? undefined : { ok: false, reason: `cannot be read: ${message}` };
  }
  return parseText(text);
}

async function parsed(text: string | undefined): Promise<Content | undefined> {
  return text === undefined || text.trim() === '' ? undefined : parseText(text);
}

/** What a command line says, beside the environment and the files of this process. */
export interface CommandLine {
  /** The flags that were given, by name. */
  readonly given: GivenFlags;
  /** The arguments that no flag took. */
  readonly leftover: readonly string[];
  /** The flags about logging that were given. */
  readonly logFlags?: GivenLogFlags;
}

/** The configuration of this process: of its command line, environment and files. */
export async function readConfig({ given, leftover, logFlags = {} }: CommandLine): Promise<ResolvedConfig> {
  const said = environment(process.env);
  const surroundings = { ...said, warnings: [...said.warnings, ...misspeltVariables(process.env)] };
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const addresses = interfaces.filter(({ internal }) => !internal).map(({ address }) => address);
  const layers = await readLayers(given.meshConfig ?? flags.meshConfig.default, surroundings.proxyConfig);
  return resolveConfig({ given, logFlags, leftover, surroundings, addresses, layers });
}

/** A configuration that is in order. */
export type EffectiveConfig = Omit<Extract<ResolvedConfig, { readonly ok: true }>, 'ok'>;

/**
 * The same, of a process that runs by one already. Rejects with a {@link Fatal} that tells all that
 * is wrong.
 */
export async function effectiveConfig(line: CommandLine): Promise<EffectiveConfig> {
  const resolved = await readConfig(line);
  if (resolved.ok) return resolved;
  throw problemsAsFatal(resolved);
}

/** 64 if the command line alone is wrong, 78 if files, variables or annotations are part of it. */
export function problemsAsFatal({ problems, usage }: Extract<ResolvedConfig, { readonly ok: false }>): Fatal {
  return new Fatal(problems.map(({ place, text }) => `${place}: ${text}`).join('; '), usage ? exitCodes.usage : exitCodes.config);
}
