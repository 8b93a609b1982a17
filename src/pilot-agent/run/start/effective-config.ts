import { networkInterfaces } from 'node:os';
import type { GivenFlags } from '../../config/flag-layer.ts';
import { environment } from '../../config/environment.ts';
import type { ConfigFile } from '../../config/config-file.ts';
import { parseText } from '../../config/parse-text.ts';
import { misspeltVariables } from '../../config/misspelt-variables.ts';
import { parseDownwardApi } from '../../config/downward-api.ts';
import { flags } from '../../config/flags.ts';
import type { GivenLogFlags } from '../../../shared/log/log-options.ts';
import { resolveConfig, type ResolvedConfig } from '../../config/resolve-config.ts';
import type { LayerContent, Layers } from '../../config/text-layers.ts';
import { largest, readOutsideSync } from '../../../shared/files/outside-file.ts';
import { exitCodes, Fatal } from '../../../shared/program/exit.ts';
import { ownMember } from '../../../shared/text/own-member.ts';

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
export function readDownward(path: string): {
  readonly entries: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
} {
  const ignored = (reason: string) => ({
    entries: {},
    warnings: [`${path} is ignored: ${reason}`],
  });
  const file = readOutsideSync(path, largest.downward);
  if (file.kind === 'absent') return { entries: {}, warnings: [] };
  if (file.kind === 'unreadable') return ignored(`it cannot be read: ${file.reason}`);
  const parsed = parseDownwardApi(file.bytes.toString());
  return parsed.ok ? { entries: parsed.entries, warnings: [] } : ignored(parsed.reason);
}

/** The files of the injection are found where nobody names them, and may be of no use. */
type Need = 'needed' | 'not needed';

/**
 * Reads and parses the texts of the configuration. A file that is not there is none; one that
 * cannot be read is told, and where it is not needed it is passed over.
 */
async function readLayers(
  {
    meshFile,
    meshNeed,
    annotationsNeed,
  }: { readonly meshFile: string; readonly meshNeed: Need; readonly annotationsNeed: Need },
  proxyConfig: string | undefined,
): Promise<Layers & Pick<ReadConfig, 'passedOver'>> {
  const found = meshFile === '' ? undefined : await readMesh(meshFile);
  const isOver = found?.ok === false && found.isUnreadable && meshNeed === 'not needed';
  const mesh = isOver ? undefined : found;
  const { entries: annotations, warnings } = readDownward(annotationsFile);
  const isNeeded = annotationsNeed === 'needed';
  return {
    passedOver: [
      ...(isOver ? [{ path: meshFile, reason: `mesh file ${meshFile} ${found.reason}` }] : []),
      ...(isNeeded ? [] : warnings.map((reason) => ({ path: annotationsFile, reason }))),
    ],
    mesh: mesh && { path: meshFile, content: mesh },
    proxyConfig: await parsed(proxyConfig),
    annotation: await parsed(annotations['proxy.istio.io/config']),
    annotations,
    warnings: isNeeded ? warnings : [],
  };
}

/** Undefined for a file that is not there. */
async function readMesh(
  path: string,
): Promise<(LayerContent & { readonly isUnreadable: boolean }) | undefined> {
  const file = readOutsideSync(path, largest.text);
  if (file.kind === 'absent') return undefined;
  if (file.kind === 'unreadable')
    return { ok: false, reason: `cannot be read: ${file.reason}`, isUnreadable: !file.isShort };
  return { ...(await parseText(file.bytes.toString())), isUnreadable: false };
}

/** A member of the content of a layer, if it is a text. */
function textOf(content: unknown, member: string): string | undefined {
  const found = ownMember(content as Readonly<Record<string, unknown>> | undefined, member);
  return typeof found === 'string' ? found : undefined;
}

async function parsed(text: string | undefined): Promise<LayerContent | undefined> {
  return text === undefined || text.trim() === '' ? undefined : parseText(text);
}

/**
 * What a configuration file of the agent says; undefined where none is named. The module that reads
 * it is loaded only then.
 */
async function readFile(path: string): Promise<ConfigFile | undefined> {
  if (path === '') return undefined;
  const { readConfigFile } = await import('../../config/config-file.ts');
  const file = readOutsideSync(path, largest.text);
  return readConfigFile(
    path,
    file.kind === 'read'
      ? await parseText(file.bytes.toString())
      : { ok: false, reason: `cannot be read: ${file.reason}` },
  );
}

/** What a command line says, and the variables beside it. */
export interface CommandLine {
  /** The flags that were given, by name. */
  readonly given: GivenFlags;
  /** The arguments that no flag took. */
  readonly leftover: readonly string[];
  /** The flags about logging that were given. */
  readonly logFlags?: GivenLogFlags;
  /** The variables; those of this process if left out. */
  readonly env?: NodeJS.ProcessEnv;
}

export type ReadConfig = ResolvedConfig & {
  /** Files that are not needed and cannot be used, and why. */
  readonly passedOver: readonly { readonly path: string; readonly reason: string }[];
};

/**
 * The configuration that follows from a command line, variables, and the files of this process. An
 * Envoy configuration of the user's needs no mesh file and no annotations, unless the mesh file is
 * named.
 */
export async function readConfig({
  given,
  leftover,
  logFlags = {},
  env = process.env,
}: CommandLine): Promise<ReadConfig> {
  const own = environment(env);
  const file = await readFile(
    given.config ?? textOf(own.flagged.layer.content, 'configFile') ?? '',
  );
  const said = file === undefined ? own : environment({ ...file.environment, ...env });
  const surroundings = { ...said, warnings: [...said.warnings, ...misspeltVariables(env)] };
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const addresses = interfaces.filter(({ internal }) => !internal).map(({ address }) => address);
  const named = (flag: string) =>
    textOf(given, flag) ??
    textOf(own.flagged.layer.content, flag) ??
    textOf(file?.flagged.layer.content, flag);
  const mesh = given.meshConfig ?? textOf(file?.flagged.layer.content, 'meshConfig');
  const ofInjection = (named('customConfigFile') ?? '') === '' ? 'needed' : 'not needed';
  const asked = {
    meshFile: mesh ?? flags.meshConfig.default,
    meshNeed: mesh === undefined ? ofInjection : 'needed',
    annotationsNeed: ofInjection,
  } as const;
  const { passedOver, ...layers } = await readLayers(asked, surroundings.proxyConfig);
  return {
    ...resolveConfig({ given, logFlags, leftover, surroundings, addresses, layers, file }),
    passedOver,
  };
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
export function problemsAsFatal({
  problems,
  usage,
}: Extract<ResolvedConfig, { readonly ok: false }>): Fatal {
  return new Fatal(
    problems.map(({ place, text }) => `${place}: ${text}`).join('; '),
    usage ? exitCodes.usage : exitCodes.config,
  );
}
