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
 * The files into which Kubernetes' downward API writes the labels and annotations of the pod, below
 * the working directory as with the Go agent.
 */
export const labelsFile = './etc/istio/pod/labels';
export const annotationsFile = './etc/istio/pod/annotations';

/**
 * Reads labels or annotations of the pod. A missing file has no entries. A file that cannot be used
 * has none either, and a warning gives the reason.
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

/**
 * Whether a file must be readable. Files that the sidecar injection mounts are used without being
 * named, and may not matter.
 */
type Need = 'needed' | 'not needed';

/**
 * Reads and parses the texts of the configuration. A missing file has no content. A file that
 * cannot be read is a problem, or is passed over if it is not needed.
 */
async function readLayers(
  {
    meshFile,
    meshNeed,
    annotationsNeed,
  }: { readonly meshFile: string; readonly meshNeed: Need; readonly annotationsNeed: Need },
  proxyConfig: string | undefined,
): Promise<Layers & Pick<ReadConfig, 'passedOver'>> {
  const meshReading = meshFile === '' ? undefined : await readMesh(meshFile);
  const isOver = meshReading?.ok === false && meshReading.isUnreadable && meshNeed === 'not needed';
  const mesh = isOver ? undefined : meshReading;
  const { entries: annotations, warnings } = readDownward(annotationsFile);
  const isNeeded = annotationsNeed === 'needed';
  return {
    passedOver: [
      ...(isOver
        ? [{ path: meshFile, reason: `mesh file ${meshFile} ${meshReading.reason}` }]
        : []),
      ...(isNeeded ? [] : warnings.map((reason) => ({ path: annotationsFile, reason }))),
    ],
    mesh: mesh && { path: meshFile, content: mesh },
    proxyConfig: await parsed(proxyConfig),
    annotation: await parsed(annotations['proxy.istio.io/config']),
    annotations,
    warnings: isNeeded ? warnings : [],
  };
}

/** Returns undefined if the file does not exist. */
async function readMesh(
  path: string,
): Promise<(LayerContent & { readonly isUnreadable: boolean }) | undefined> {
  const file = readOutsideSync(path, largest.text);
  if (file.kind === 'absent') return undefined;
  if (file.kind === 'unreadable')
    return { ok: false, reason: `cannot be read: ${file.reason}`, isUnreadable: !file.isShort };
  return { ...(await parseText(file.bytes.toString())), isUnreadable: false };
}

/** Returns a member of the content of a layer, if it is a text. */
function textOf(content: unknown, member: string): string | undefined {
  const value = ownMember(content as Readonly<Record<string, unknown>> | undefined, member);
  return typeof value === 'string' ? value : undefined;
}

async function parsed(text: string | undefined): Promise<LayerContent | undefined> {
  return text === undefined || text.trim() === '' ? undefined : parseText(text);
}

/**
 * Reads a configuration file of the agent; undefined if none is named. Only then the module that
 * reads it is loaded.
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

/** The content of a command line, and the variables beside it. */
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
 * Resolves the configuration from a command line, variables, and the files of this process. If the
 * user has a custom Envoy configuration, the annotations are not needed, and the mesh file only if
 * it is named.
 */
export async function readConfig({
  given,
  leftover,
  logFlags = {},
  env = process.env,
}: CommandLine): Promise<ReadConfig> {
  const processEnv = environment(env);
  const file = await readFile(
    given.config ?? textOf(processEnv.flagged.layer.content, 'configFile') ?? '',
  );
  const mergedEnv = file === undefined ? processEnv : environment({ ...file.environment, ...env });
  const surroundings = {
    ...mergedEnv,
    warnings: [...mergedEnv.warnings, ...misspeltVariables(env)],
  };
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const addresses = interfaces.filter(({ internal }) => !internal).map(({ address }) => address);
  const named = (flag: string) =>
    textOf(given, flag) ??
    textOf(processEnv.flagged.layer.content, flag) ??
    textOf(file?.flagged.layer.content, flag);
  const mesh = given.meshConfig ?? textOf(file?.flagged.layer.content, 'meshConfig');
  const ofInjection = (named('customConfigFile') ?? '') === '' ? 'needed' : 'not needed';
  const layerInputs = {
    meshFile: mesh ?? flags.meshConfig.default,
    meshNeed: mesh === undefined ? ofInjection : 'needed',
    annotationsNeed: ofInjection,
  } as const;
  const { passedOver, ...layers } = await readLayers(layerInputs, surroundings.proxyConfig);
  return {
    ...resolveConfig({ given, logFlags, leftover, surroundings, addresses, layers, file }),
    passedOver,
  };
}

/** A valid configuration. */
export type EffectiveConfig = Omit<Extract<ResolvedConfig, { readonly ok: true }>, 'ok'>;

/**
 * Resolves the configuration as {@link readConfig} does, for a process that has one already.
 * Rejects with a {@link Fatal} that lists all mistakes.
 */
export async function effectiveConfig(line: CommandLine): Promise<EffectiveConfig> {
  const resolved = await readConfig(line);
  if (resolved.ok) return resolved;
  throw problemsAsFatal(resolved);
}

/** Returns 64 if only the command line is wrong, 78 if files, variables or annotations are. */
export function problemsAsFatal({
  problems,
  usage,
}: Extract<ResolvedConfig, { readonly ok: false }>): Fatal {
  return new Fatal(
    problems.map(({ place, text }) => `${place}: ${text}`).join('; '),
    usage ? exitCodes.usage : exitCodes.config,
  );
}
