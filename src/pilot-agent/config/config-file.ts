import * as z from 'zod/mini';
import { appProbes } from './app-probes.ts';
import { isMetricsVariable, metricsTargets } from './metrics-targets.ts';
import { type FlagLayer, flagLayer } from './flag-layer.ts';
import { flags } from './flags.ts';
import { freeVariable, knownVariables } from './known-variables.ts';
import type { GivenLogFlags } from '../../shared/log/log-options.ts';
import { few, type Layer, pathText } from './read-layer.ts';
import type { Problem } from '../../shared/text/value.ts';
import { readSourceList, sourceList, unknownText } from './source-list.ts';
import type { ListedSources } from './source-settings.ts';
import { isMap } from '../../shared/text/split-content.ts';
import type { LayerContent } from './text-layers.ts';
import { value } from '../../shared/text/value.ts';

/** The content of a configuration file of the agent. */
export interface ConfigFile {
  /** Its name as the source of a value: `config file PATH`. */
  readonly name: string;
  /** The file was read and parsed. */
  readonly isKnown: boolean;
  /** Lower than the flags of the file. */
  readonly proxyConfig: Layer;
  readonly flagged: FlagLayer;
  readonly logFlags: GivenLogFlags;
  readonly role: string | undefined;
  /** Variables; those of the process win. */
  readonly environment: Readonly<Record<string, string>>;
  readonly sources: ListedSources;
  readonly problems: readonly Problem[];
}

/** The members of a file besides flags and `$schema`. Two of these have separate checks. */
export const fileMembers = {
  role: value.oneOf('sidecar', 'router'),
  environment: z.record(
    z.string(),
    z.union([z.string(), z.number(), z.boolean()], 'is not a text, a number, true or false'),
    'is not a map of variables',
  ),
  proxyConfig: value.message({}),
  probers: z.record(z.string(), z.unknown(), 'is not a map of probes by path'),
  sources: sourceList,
} as const;

/** The logging flags that a file can set. */
export const fileLogFlags = {
  log_output_level: value.text,
  log_as_json: z.union([z.boolean(), z.string()], 'is not true or false'),
  log_target: z.union([z.string(), value.texts], 'is not a path, nor a list of paths'),
} as const;

/**
 * The flags that a file can set. A file names no other file, and flags without effect are left out.
 */
export const fileFlags = Object.keys(flags).filter(
  (name) => name !== 'config' && !('ignored' in flags[name as keyof typeof flags]),
);
/** The variables that members of the file replace. */
const besideVariables = new Set([
  'PROXY_CONFIG',
  'ISTIO_KUBE_APP_PROBERS',
  ...Object.values(flags).flatMap((flag) => ('variable' in flag ? [flag.variable] : [])),
]);

/** Returns the variables that a file can set, each with the kind of its value. Pure. */
export function fileVariables(): ReadonlyMap<string, z.ZodMiniType> {
  return new Map([...knownVariables()].filter(([name]) => !besideVariables.has(name)));
}

/**
 * Reads a configuration file, and reports each mistake with its path. A member that is null counts
 * as missing; an unknown member is a mistake. Pure.
 *
 * @param content the parsed text of the file
 */
export function readConfigFile(path: string, content: LayerContent): ConfigFile {
  const name = `config file ${path}`;
  const placeOf = (...members: readonly PropertyKey[]) =>
    members.length === 0 ? name : `${name}: ${pathText(members)}`;
  const parsed = content.ok ? (content.value ?? {}) : {};
  const unread = content.ok
    ? isMap(parsed)
      ? []
      : [{ place: name, text: 'not a map of fields' }]
    : [{ place: name, text: content.reason }];
  const fields = Object.fromEntries(
    Object.entries(isMap(parsed) ? parsed : {}).filter(([, member]) => member !== null),
  );

  const forms: Readonly<Record<string, z.ZodMiniType>> = { ...fileMembers, ...fileLogFlags };
  const knownMembers = [...Object.keys(forms), ...fileFlags, '$schema'];
  const unknown = Object.keys(fields).filter((member) => !knownMembers.includes(member));
  const problems: Problem[] = [
    ...unread,
    ...unknown.map((member) => ({
      place: placeOf(member),
      text: unknownText(member, knownMembers),
    })),
  ];
  const right = (member: keyof typeof fileMembers | keyof typeof fileLogFlags): unknown => {
    const result = z.safeParse(z.optional(forms[member] ?? z.never()), fields[member]);
    problems.push(
      ...(result.error?.issues ?? []).map((issue) => ({
        place: placeOf(member, ...issue.path),
        text: issue.message,
      })),
    );
    return result.success ? fields[member] : undefined;
  };

  const sources = readSourceList(fields['sources'] ?? []);
  problems.push(
    ...sources.problems.map(({ place, text }) => ({
      place: `${placeOf('sources')}${place}`,
      text,
    })),
  );
  const environment = readEnvironment(right('environment') as Variables | undefined);
  problems.push(
    ...environment.problems.map(({ place, text }) => ({
      place: placeOf('environment', place),
      text,
    })),
  );
  const probers = readProbers(right('probers') as object | undefined);
  problems.push(
    ...probers.problems.map(({ place, text }) => ({ place: placeOf('probers', place), text })),
  );
  const logging = Object.keys(fileLogFlags).map(
    (flag) => [flag, right(flag as keyof typeof fileLogFlags)] as const,
  );
  const given = logging.flatMap(([flag, setting]) =>
    setting === undefined ? [] : [[flag, typeof setting === 'boolean' ? String(setting) : setting]],
  );

  return {
    name,
    isKnown: unread.length === 0,
    proxyConfig: {
      content: fields['proxyConfig'],
      source: () => name,
      place: (below) =>
        below === '' ? placeOf('proxyConfig') : `${placeOf('proxyConfig')}.${below}`,
    },
    flagged: flagLayer(
      Object.fromEntries(
        fileFlags.flatMap((flag) => (Object.hasOwn(fields, flag) ? [[flag, fields[flag]]] : [])),
      ),
      (flag) => placeOf(flag),
      name,
    ),
    logFlags: Object.fromEntries(given) as GivenLogFlags,
    role: right('role') as string | undefined,
    environment: { ...environment.texts, ...probers.texts },
    sources: { made: sources.made, count: sources.count, place: placeOf('sources') },
    problems: few(problems, (more) => ({ place: name, text: `${more} more mistakes` })),
  };
}

type Variables = Readonly<Record<string, string | number | boolean>>;

interface ReadVariables {
  readonly texts: Readonly<Record<string, string>>;
  /** By the name of the variable, or by the path of the probe. */
  readonly problems: readonly Problem[];
}

/** An invalid value is a mistake here: the user has written the file, not an injector. */
function readEnvironment(variables: Variables = {}): ReadVariables {
  if (Object.keys(variables).length === 0) return { texts: {}, problems: [] };
  const kinds = fileVariables();
  const texts = Object.fromEntries(
    Object.entries(variables).map(([name, given]) => [name, String(given)]),
  );
  const problems = Object.entries(texts).flatMap(([name, text]): readonly Problem[] => {
    const kind = kinds.get(name);
    if (kind === undefined)
      return freeVariable.test(name)
        ? []
        : [{ place: name, text: unknownText(name, [...kinds.keys()]) }];
    if (isMetricsVariable(name)) return metricsTargets({ [name]: text }, new Map()).flaws;
    return (z.safeParse(kind, text).error?.issues ?? []).map(({ message }) => ({
      place: name,
      text: message,
    }));
  });
  return { texts, problems };
}

function readProbers(probers: object = {}): ReadVariables {
  const problems = Object.entries(probers).flatMap(([path, probe]): readonly Problem[] => {
    const result = appProbes(JSON.stringify({ [path]: probe as unknown }));
    return result.flaws.map((text) => ({ place: path, text: text.replace(`${path}: `, '') }));
  });
  const isSaid = Object.keys(probers).length > 0 && problems.length === 0;
  return { texts: isSaid ? { ISTIO_KUBE_APP_PROBERS: JSON.stringify(probers) } : {}, problems };
}
