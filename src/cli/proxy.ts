import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { adminClient } from '../admin/admin-client.ts';
import type { AgentEvent, Outcome } from '../agent/model.ts';
import { narrate } from '../agent/narrate.ts';
import type { FlagName } from '../config/flags.ts';
import { resolveConfig } from '../config/resolve-config.ts';
import { cacheDir } from '../envoy/cache-dir.ts';
import { findEnvoy } from '../envoy/find-envoy.ts';
import { findExecutable } from '../envoy/find-executable.ts';
import { pinnedEnvoy } from '../envoy/pinned-envoy.ts';
import { envoyLogFormat } from '../log/envoy-lines.ts';
import { openLog } from '../log/open-log.ts';
import { envoyProxy } from '../proxy/envoy-proxy.ts';
import { freeBaseId } from '../proxy/free-base-id.ts';
import { exitCodes } from './exit-codes.ts';
import { exitOf } from './exit-of.ts';
import { Fatal } from './fatal.ts';
import { prepareFolder } from './prepare-folder.ts';
import { runAgent } from './run-agent.ts';
import { version } from './version.ts';

/** Events on the way to the first Envoy, which is not to wait for the log. */
const beforeSpawn: readonly AgentEvent['type'][] = ['config-changed', 'turn-granted'];

/**
 * `pilot-agent proxy`: runs the agent until it has ended as it was asked to. Rejects with a {@link Fatal} for any other end.
 *
 * @param given the flags that were given, by name
 * @param leftover the arguments that no flag took
 */
export async function proxy(given: Readonly<Partial<Record<FlagName, string>>>, leftover: readonly string[]): Promise<void> {
  const { env, pid } = process;
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const addresses = interfaces.filter(({ internal }) => !internal).map(({ address }) => address);
  const resolved = resolveConfig(given, leftover, env, addresses);
  if (!resolved.ok) throw new Fatal(resolved.problems.map(({ place, text }) => `${place}: ${text}`).join('; '), exitCodes.usage);
  const { config, warnings } = resolved;
  const { customConfigFile, configPath, node, role } = config;
  const found = findEnvoy({ binaryPath: config.binaryPath, env, cacheDir: cacheDir(env), version: pinnedEnvoy.version });
  if (!found.ok) throw new Fatal(found.reason, exitCodes.unavailable);
  attempt(() => readable(customConfigFile), `--customConfigFile ${customConfigFile} cannot be read`);
  attempt(() => prepareFolder(configPath), `--configPath ${configPath} cannot be written`);

  const log = openLog(1);
  const tell = (level: 'info' | 'warn', msg: string, fields = {}) => log.write({ level, component: 'agent', ...fields, msg });
  tell('info', 'pilot-agent', { version, node: process.version, pid, role, id: node.id, envoy: found.path });
  const [mkfifo, setpriv, sh] = ['mkfifo', 'setpriv', 'sh'].map((name) => findExecutable(name, env['PATH']));
  if (setpriv === undefined) tell('warn', 'setpriv is not in PATH: an Envoy in its first moments may survive a SIGKILL of the agent');
  if (sh === undefined) tell('warn', 'sh is not in PATH: an Envoy that is stopped or stuck survives a SIGKILL of the agent');
  if (mkfifo === undefined) tell('warn', "mkfifo is not in PATH: Envoy's log lines are passed on as they are");
  for (const warning of warnings) tell('warn', warning);

  const folder = resolve(configPath);
  const addressFile = `${folder}/envoy-admin-address`;
  const admin = adminClient(addressFile, config.proxyAdminPort);
  const envoy = envoyProxy({
    binary: found.path,
    args: {
      baseId: freeBaseId(readFileSync('/proc/net/unix', 'utf8'), readdirSync('/dev/shm'), Math.random),
      drainDuration: config.drainDuration,
      parentShutdownDuration: config.parentShutdownDuration,
      serviceCluster: config.serviceCluster,
      serviceNode: [role, node.ip, node.id, node.domain].join('~'),
      ipv6: node.ipv6,
      logFormat: envoyLogFormat,
      logLevel: config.proxyLogLevel,
      componentLogLevel: config.proxyComponentLogLevel,
      concurrency: config.concurrency,
    },
    config: () => ({ kind: 'given', path: customConfigFile, override: '' }),
    admin,
    addressFile,
    folder,
    pairs: config.certificates,
    drainsAll: role === 'router',
    tools: { mkfifo, setpriv, sh },
    onLine: ({ level, component, message }, epoch) => log.write({ level, component: `envoy.${component}`, epoch, msg: message }),
  });
  const life$ = runAgent(config, {
    proxy: envoy,
    admin,
    terminal: isatty(1),
    tell: (line) => log.write({ component: 'watcher', ...line }),
  });

  const outcome = await new Promise<Outcome | undefined>((done, fail) => {
    let last: Outcome | undefined;
    life$.subscribe({
      next: (transition) => {
        last = transition.state.outcome;
        for (const line of narrate(transition)) log.write({ component: 'agent', ...line });
        if (!beforeSpawn.includes(transition.event.type)) log.open();
      },
      error: fail,
      complete: () => done(last),
    });
  }).finally(() => log.close());

  const { code, why } = exitOf(outcome ?? { kind: 'asked' });
  if (why !== undefined) throw new Fatal(outcome?.kind === 'refused' ? `--customConfigFile ${customConfigFile}: ${why}` : why, code);
}

function readable(file: string): void {
  accessSync(file, constants.R_OK);
  if (statSync(file).isDirectory()) throw new Error('it is a directory');
}

function attempt(action: () => void, what: string): void {
  try {
    action();
  } catch (error) {
    throw new Fatal(`${what}: ${(error as Error).message}`, exitCodes.config);
  }
}
