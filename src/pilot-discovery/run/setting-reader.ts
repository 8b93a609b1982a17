import { longestTimer } from '../../operators/longest-timer.ts';
import { parseHostPort } from '../../shared/text/host-port.ts';
import { parseBoolean, parseDuration } from '../../shared/text/value.ts';
import { type DiscoveryFlagName, discoveryFlags } from './discovery-flags.ts';

/** An address to listen on. An empty host means every address. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export type GivenDiscoveryFlags = Readonly<Partial<Record<DiscoveryFlagName, string>>>;
export type DiscoveryVariables = Readonly<Record<string, string | undefined>>;

/** Reads flags and variables. Each of its functions adds a problem if a value is wrong. */
export interface SettingReader {
  readonly given: GivenDiscoveryFlags;
  /** The value that was given, or the default. */
  readonly flag: (name: DiscoveryFlagName) => string;
  /** The value of a variable; undefined if it is not set, or empty. */
  readonly variable: (name: string) => string | undefined;
  /** The address in a flag; undefined if the flag is empty or wrong. */
  readonly address: (name: DiscoveryFlagName) => ListenAddress | undefined;
  /** A duration in ms, at most the longest timer. */
  readonly ofFlag: (name: DiscoveryFlagName) => number;
  /** The same; `standard` is in ms too. */
  readonly ofVariable: (name: string, standard: number) => number;
  /** Whether a variable is anything but false. */
  readonly yesUnless: (name: string) => boolean;
  /** Whether a variable is true. */
  readonly noUnless: (name: string) => boolean;
  readonly addProblem: (problem: string) => void;
}

export function settingReader(
  given: GivenDiscoveryFlags,
  env: DiscoveryVariables,
  addProblem: (problem: string) => void,
): SettingReader {
  const flag = (name: DiscoveryFlagName): string => given[name] ?? discoveryFlags[name].default;
  const variable = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const duration = (place: string, text: string, standard: number): number => {
    const ms = parseDuration(text);
    if (ms !== undefined && ms >= 0) return Math.min(ms, longestTimer);
    addProblem(`${place}: '${text}' is not a duration (such as '100ms' or '10s')`);
    return standard;
  };
  /** Undefined if the variable is empty or wrong. */
  const yesOrNo = (name: string): boolean | undefined => {
    const text = variable(name);
    const value = text === undefined ? undefined : parseBoolean(text);
    if (text !== undefined && value === undefined)
      addProblem(`${name}: '${text}' is not true or false`);
    return value;
  };
  return {
    given,
    flag,
    variable,
    address(name) {
      const text = flag(name);
      if (text === '') return undefined;
      const parts = parseHostPort(text);
      const port = /^\d{1,5}$/.test(parts?.port ?? '') ? Number(parts?.port) : NaN;
      if (parts !== undefined && port <= 65_535) return { host: parts.host, port };
      addProblem(`--${name}: '${text}' is not host:port, :port, or empty`);
      return undefined;
    },
    ofFlag: (name) => duration(`--${name}`, flag(name), 0),
    ofVariable(name, standard) {
      const text = variable(name);
      return text === undefined ? standard : duration(name, text, standard);
    },
    yesUnless: (name) => yesOrNo(name) ?? true,
    noUnless: (name) => yesOrNo(name) ?? false,
    addProblem,
  };
}
