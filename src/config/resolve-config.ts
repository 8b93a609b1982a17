import * as z from 'zod/mini';
import { type FlagName, flags } from './flags.ts';
import { type NodeIdentity, nodeIdentity } from './node-identity.ts';
import { parseDuration } from './parse-duration.ts';
import { resolveRole } from './resolve-role.ts';

/** What the agent runs by; nothing in it is optional. Durations in ms. */
export interface AgentConfig extends z.infer<typeof schema> {
  readonly role: 'sidecar' | 'router';
  readonly node: NodeIdentity;
  /** `cert-chain.pem` and its fellows, which Envoy is restarted for. */
  readonly certificates: readonly { readonly chain: string; readonly key: string; readonly root: string }[];
  readonly drainCap: number;
  readonly drainMinimum: number;
}

/** One thing that is wrong: where, and what would be right. */
export interface Problem {
  readonly place: string;
  readonly text: string;
}

export type ResolvedConfig =
  | { readonly ok: true; readonly config: AgentConfig; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

z.config({ jitless: true }); // a check that runs once is not worth compiling

const text = z.string();

/** A text that `parse` understands; `right` completes the sentence "… is not". */
function parsed<T>(parse: (value: string) => T | undefined, right: string) {
  return z.pipe(
    z.string(),
    z.transform((value, context): T => {
      const result = parse(value);
      if (result !== undefined) return result;
      context.issues.push({ code: 'custom', message: `'${value}' is not ${right}`, input: value });
      return z.NEVER;
    }),
  );
}

const whole = (value: string, from: number, to: number) =>
  /^\d+$/.test(value) && Number(value) >= from && Number(value) <= to ? Number(value) : undefined;
const oneOf = <T extends string>(...choices: readonly T[]) =>
  parsed((value) => choices.find((choice) => choice === value), `one of ${choices.filter((choice) => choice !== '').join(', ')}`);
const named = parsed((value) => (value === '' ? undefined : value), 'a name');
const count = parsed((value) => whole(value, 0, 2 ** 31 - 1), 'a whole number from 0 on');
/** What a timer of Node can count, 24.8 days: beyond it, it fires at once. */
const longest = 2 ** 31 - 1;
const countable = (value: string) => {
  const ms = parseDuration(value);
  return ms !== undefined && ms >= 0 ? Math.min(ms, longest) : undefined;
};
const duration = parsed(countable, "a duration (such as '45s' or '1m30s')");
const levels = ['trace', 'debug', 'info', 'warning', 'warn', 'error', 'critical', 'off'] as const;

const schema = z.object({
  binaryPath: z.optional(named),
  configPath: named,
  customConfigFile: parsed((value) => (value === '' ? undefined : value), 'a file: this version needs the Envoy configuration to be given'),
  drainDuration: duration,
  parentShutdownDuration: duration,
  proxyAdminPort: parsed((value) => whole(value, 1, 65_535), 'a port (1 to 65535)'),
  statusPort: parsed((value) => whole(value, 0, 65_535), 'a port (1 to 65535, or 0 for none)'),
  serviceCluster: named,
  concurrency: count,
  proxyLogLevel: oneOf(...levels, ''),
  proxyComponentLogLevel: parsed(
    (value) => (value === '' || value.split(',').every((part) => levels.some((level) => part.endsWith(`:${level}`))) ? value : undefined),
    'a list of name:level',
  ),
  serviceregistry: text,
  id: text,
  ip: text,
  domain: text,
  minDelay: duration,
  envoyRestartPolicy: oneOf('backoff', 'exit'),
  envoyRestartBudget: count,
});

/**
 * The configuration from the flags that were given, the arguments that no flag took, and the environment; or all that is wrong with it.
 *
 * A wrong value of a flag is a problem; one of an environment variable is a warning, and the default holds, as with the Go agent. Pure.
 */
export function resolveConfig(
  given: Readonly<Partial<Record<FlagName, string>>>,
  leftover: readonly string[],
  env: NodeJS.ProcessEnv,
  addresses: readonly string[],
): ResolvedConfig {
  const { role, unknownFlags } = resolveRole(leftover);
  const defaults = Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [name, name === 'binaryPath' ? undefined : flag.default]),
  );
  const raw = { ...defaults, ...given };
  const result = schema.safeParse(raw);
  const problems: Problem[] = result.success
    ? []
    : result.error.issues.map(({ path, message }) => ({ place: `--${String(path[0])}`, text: message }));
  if (role !== 'sidecar' && role !== 'router') problems.unshift({ place: 'role', text: `'${role}' is not sidecar or router` });

  const drain = countable(raw.drainDuration ?? '');
  const shutdown = countable(raw.parentShutdownDuration ?? '');
  if (drain !== undefined && shutdown !== undefined && Math.floor(shutdown / 1000) <= Math.floor(drain / 1000)) {
    problems.push({
      place: '--parentShutdownDuration',
      text: `${shutdown / 1000}s is not at least a whole second more than --drainDuration ${drain / 1000}s`,
    });
  }
  if (!result.success || problems.length > 0 || (role !== 'sidecar' && role !== 'router')) return { ok: false, problems };

  const warnings = unknownFlags.map((flag) => `unknown flag ${flag} is ignored`);
  const fromEnv = (name: string, fallback: number, parse: (value: string) => number | undefined, right: string): number => {
    const value = env[name];
    const ms = value === undefined ? fallback : parse(value);
    if (ms === undefined) warnings.push(`${name}: '${value ?? ''}' is not ${right}: the default holds`);
    return ms ?? fallback;
  };
  const seconds = (value: string) => (/^[+-]?\d+$/.test(value) ? Math.min(Math.max(0, Number(value)) * 1000, longest) : undefined);
  const drainCap = fromEnv('TERMINATION_DRAIN_DURATION_SECONDS', 5_000, seconds, 'a whole number of seconds');
  const drainMinimum = fromEnv('MINIMUM_DRAIN_DURATION', 5_000, countable, 'a duration');
  const path = (name: string, fallback: string) => (env[name] === '' ? undefined : env[name]) ?? fallback;
  const side = (name: string) => ({
    chain: path(`ISTIO_META_TLS_${name}_CERT_CHAIN`, '/etc/certs/cert-chain.pem'),
    key: path(`ISTIO_META_TLS_${name}_KEY`, '/etc/certs/key.pem'),
    root: path(`ISTIO_META_TLS_${name}_ROOT_CERT`, '/etc/certs/root-cert.pem'),
  });
  const { ip, id, domain, serviceregistry: registry } = result.data;
  return {
    ok: true,
    config: {
      ...result.data,
      role,
      node: nodeIdentity({ ip, id, domain, registry, env, addresses }),
      certificates: [side('SERVER'), side('CLIENT')],
      drainCap,
      drainMinimum,
    },
    warnings,
  };
}
