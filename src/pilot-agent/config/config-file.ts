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

/** What a configuration file of the agent says. */
export interface ConfigFile {
  /** As the source of a value: `config file PATH`. */
  readonly name: string;
  /** Whether it could be read and parsed. */
  readonly isKnown: boolean;
  /** Below the flags of the file. */
  readonly proxyConfig: Layer;
  readonly flagged: FlagLayer;
  readonly logFlags: GivenLogFlags;
  readonly role: string | undefined;
  /** Variables, which those of the process replace. */
  readonly environment: Readonly<Record<string, string>>;
  readonly sources: ListedSources;
  readonly problems: readonly Problem[];
}

/** What a file has besides flags and `$schema`. Two of these have checks of their own. */
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

/** The logging flags that a file can say. */
export const fileLogFlags = {
  log_output_level: value.text,
  log_as_json: z.union([z.boolean(), z.string()], 'is not true or false'),
  log_target: z.union([z.string(), value.texts], 'is not a path, nor a list of paths'),
} as const;

/** Flags that a file can say: a file names no other, and what has no effect is none. */
export const fileFlags = Object.keys(flags).filter(
  (name) => name !== 'config' && !('ignored' in flags[name as keyof typeof flags]),
);
/** What is said by a member of the file, and not by a variable in it. */
const besideVariables = new Set([
  'PROXY_CONFIG',
  'ISTIO_KUBE_APP_PROBERS',
  ...Object.values(flags).flatMap((flag) => ('variable' in flag ? [flag.variable] : [])),
]);

/** The variables that a file can say, each with the kind of its value. Pure. */
export function fileVariables(): ReadonlyMap<string, z.ZodMiniType> {
  return new Map([...knownVariables()].filter(([name]) => !besideVariables.has(name)));
}

/**
 * Reads what a configuration file says, and tells each thing that is wrong by its path. A member
 * that is null says nothing; one that nobody knows is a mistake. Pure.
 *
 * @param content what was made of the text of the file
 */
export function readConfigFile(path: string, content: LayerContent): ConfigFile {
  const name = `config file ${path}`;
  const at = (...members: readonly PropertyKey[]) =>
    members.length === 0 ? name : `${name}: ${pathText(members)}`;
  const all = content.ok ? (content.value ?? {}) : {};
  const unread = content.ok
    ? isMap(all)
      ? []
      : [{ place: name, text: 'not a map of fields' }]
    : [{ place: name, text: content.reason }];
  const said = Object.fromEntries(
    Object.entries(isMap(all) ? all : {}).filter(([, member]) => member !== null),
  );

  const forms: Readonly<Record<string, z.ZodMiniType>> = { ...fileMembers, ...fileLogFlags };
  const known = [...Object.keys(forms), ...fileFlags, '$schema'];
  const unknown = Object.keys(said).filter((member) => !known.includes(member));
  const problems: Problem[] = [
    ...unread,
    ...unknown.map((member) => ({ place: at(member), text: unknownText(member, known) })),
  ];
  const right = (member: keyof typeof fileMembers | keyof typeof fileLogFlags): unknown => {
    const result = z.safeParse(z.optional(forms[member] ?? z.never()), said[member]);
    problems.push(
      ...(result.error?.issues ?? []).map((issue) => ({
        place: at(member, ...issue.path),
        text: issue.message,
      })),
    );
    return result.success ? said[member] : undefined;
  };

  const sources = readSourceList(said['sources'] ?? []);
  problems.push(
    ...sources.problems.map(({ place, text }) => ({ place: `${at('sources')}${place}`, text })),
  );
  const environment = readEnvironment(right('environment') as Variables | undefined);
  problems.push(
    ...environment.problems.map(({ place, text }) => ({ place: at('environment', place), text })),
  );
  const probers = readProbers(right('probers') as object | undefined);
  problems.push(
    ...probers.problems.map(({ place, text }) => ({ place: at('probers', place), text })),
  );
  const logging = Object.keys(fileLogFlags).map(
    (flag) => [flag, right(flag as keyof typeof fileLogFlags)] as const,
  );
  const given = logging.flatMap(([flag, told]) =>
    told === undefined ? [] : [[flag, typeof told === 'boolean' ? String(told) : told]],
  );

  return {
    name,
    isKnown: unread.length === 0,
    proxyConfig: {
      content: said['proxyConfig'],
      source: () => name,
      place: (below) => (below === '' ? at('proxyConfig') : `${at('proxyConfig')}.${below}`),
    },
    flagged: flagLayer(
      Object.fromEntries(
        fileFlags.flatMap((flag) => (Object.hasOwn(said, flag) ? [[flag, said[flag]]] : [])),
      ),
      (flag) => at(flag),
      name,
    ),
    logFlags: Object.fromEntries(given) as GivenLogFlags,
    role: right('role') as string | undefined,
    environment: { ...environment.texts, ...probers.texts },
    sources: { made: sources.made, count: sources.count, place: at('sources') },
    problems: few(problems, (more) => ({ place: name, text: `${more} more mistakes` })),
  };
}

type Variables = Readonly<Record<string, string | number | boolean>>;

interface ReadVariables {
  readonly texts: Readonly<Record<string, string>>;
  /** By the name of the variable, or by the path of the probe. */
  readonly problems: readonly Problem[];
}

/** A value that is not understood is a mistake: nobody else has written the file. */
function readEnvironment(said: Variables = {}): ReadVariables {
  if (Object.keys(said).length === 0) return { texts: {}, problems: [] };
  const known = fileVariables();
  const texts = Object.fromEntries(
    Object.entries(said).map(([name, given]) => [name, String(given)]),
  );
  const problems = Object.entries(texts).flatMap(([name, text]): readonly Problem[] => {
    const kind = known.get(name);
    if (kind === undefined)
      return freeVariable.test(name)
        ? []
        : [{ place: name, text: unknownText(name, [...known.keys()]) }];
    if (isMetricsVariable(name)) return metricsTargets({ [name]: text }, new Map()).flaws;
    return (z.safeParse(kind, text).error?.issues ?? []).map(({ message }) => ({
      place: name,
      text: message,
    }));
  });
  return { texts, problems };
}

function readProbers(said: object = {}): ReadVariables {
  const problems = Object.entries(said).flatMap(([path, probe]): readonly Problem[] => {
    const result = appProbes(JSON.stringify({ [path]: probe as unknown }));
    return result.flaws.map((text) => ({ place: path, text: text.replace(`${path}: `, '') }));
  });
  const isSaid = Object.keys(said).length > 0 && problems.length === 0;
  return { texts: isSaid ? { ISTIO_KUBE_APP_PROBERS: JSON.stringify(said) } : {}, problems };
}
