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
  /** The flags of the file win over it. */
  readonly proxyConfig: Layer;
  readonly flagged: FlagLayer;
  readonly logFlags: GivenLogFlags;
  readonly role: string | undefined;
  /** Variables; those of the process win. */
  readonly environment: Readonly<Record<string, string>>;
  readonly sources: ListedSources;
  readonly problems: readonly Problem[];
}

/**
 * The members of a file besides flags and `$schema`. Other functions check `proxyConfig` and
 * `sources`.
 */
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
  const placed = ({ path: members, text }: MemberFlaw) => ({ place: placeOf(...members), text });
  const { fields, unread } = fieldsOf(content);
  const sources = readSourceList(fields['sources'] ?? []);
  const variables = checkedMember(fields, 'environment');
  const environment = readEnvironment(variables.value as Variables | undefined);
  const probes = checkedMember(fields, 'probers');
  const probers = readProbers(probes.value as object | undefined);
  const logging = checkedLogging(fields);
  const role = checkedMember(fields, 'role');
  const problems: readonly Problem[] = [
    ...[...unread, ...unknownMembers(fields)].map(placed),
    ...sources.problems.map(({ place, text }) => ({
      place: `${placeOf('sources')}${place}`,
      text,
    })),
    ...[
      ...variables.flaws,
      ...environment.problems.map(({ place, text }) => ({ path: ['environment', place], text })),
      ...probes.flaws,
      ...probers.problems.map(({ place, text }) => ({ path: ['probers', place], text })),
      ...logging.flaws,
      ...role.flaws,
    ].map(placed),
  ];
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
    logFlags: logging.given,
    role: role.value as string | undefined,
    environment: { ...environment.texts, ...probers.texts },
    sources: { makeSources: sources.makeSources, count: sources.count, place: placeOf('sources') },
    problems: few(problems, (more) => ({ place: name, text: `${more} more mistakes` })),
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** A mistake, and the path of its member; empty for the file itself. */
interface MemberFlaw {
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

/**
 * Returns the members of a file that are not null, and the reason if it cannot be read as a map.
 */
function fieldsOf(content: LayerContent): {
  readonly fields: Fields;
  readonly unread: readonly MemberFlaw[];
} {
  if (!content.ok) return { fields: {}, unread: [{ path: [], text: content.reason }] };
  const parsed = content.value ?? {};
  if (!isMap(parsed)) return { fields: {}, unread: [{ path: [], text: 'not a map of fields' }] };
  const members = Object.entries(parsed).filter(([, member]) => member !== null);
  return { fields: Object.fromEntries(members), unread: [] };
}

const forms: Readonly<Record<string, z.ZodMiniType>> = { ...fileMembers, ...fileLogFlags };
const knownMembers = [...Object.keys(forms), ...fileFlags, '$schema'];

function unknownMembers(fields: Fields): readonly MemberFlaw[] {
  return Object.keys(fields)
    .filter((member) => !knownMembers.includes(member))
    .map((member) => ({ path: [member], text: unknownText(member, knownMembers) }));
}

/** Returns the value of a member if it is valid, and its flaws if it is not. */
function checkedMember(
  fields: Fields,
  member: keyof typeof fileMembers | keyof typeof fileLogFlags,
): { readonly value: unknown; readonly flaws: readonly MemberFlaw[] } {
  const result = z.safeParse(z.optional(forms[member] ?? z.never()), fields[member]);
  const flaws = (result.error?.issues ?? []).map(({ path, message }) => ({
    path: [member, ...path],
    text: message,
  }));
  return { value: result.success ? fields[member] : undefined, flaws };
}

function checkedLogging(fields: Fields): {
  readonly given: GivenLogFlags;
  readonly flaws: readonly MemberFlaw[];
} {
  const logging = (Object.keys(fileLogFlags) as (keyof typeof fileLogFlags)[]).map(
    (flag) => [flag, checkedMember(fields, flag)] as const,
  );
  const given = logging.flatMap(([flag, { value: setting }]) =>
    setting === undefined ? [] : [[flag, typeof setting === 'boolean' ? String(setting) : setting]],
  );
  return {
    given: Object.fromEntries(given) as GivenLogFlags,
    flaws: logging.flatMap(([, { flaws }]) => flaws),
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
