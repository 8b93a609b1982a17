import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import {
  concatMap,
  distinctUntilChanged,
  exhaustMap,
  filter,
  interval,
  merge,
  share,
  takeUntil,
  tap,
  throttleTime,
} from 'rxjs';
import { exitCodes, Fatal } from '../src/shared/program/exit.ts';
import { findExecutable } from '../src/pilot-agent/envoy/find-envoy.ts';
import { line, type LogLine } from '../src/shared/log/log-line.ts';
import { openLog } from '../src/shared/log/open-log.ts';
import { signals } from '../src/streams/process-events.ts';
import { certificateAuthority, certificateFiles, writeKubernetesVolume } from './certificates.ts';
import { periodOf, portOf } from './demo-settings.ts';
import { envoyConfig } from './envoy-config.ts';
import { firstFreePort } from './first-free-port.ts';
import { header } from './header.ts';
import { provideEnvoy } from './provide-envoy.ts';
import { servedSerial } from './served-serial.ts';

const program = fileURLToPath(new URL('../dist/pilot-agent.cjs', import.meta.url));
const flagsOfInterest = {
  binaryPath: { type: 'string' },
  proxyAdminPort: { type: 'string' },
  statusPort: { type: 'string' },
  rotation: { type: 'string' },
} as const;
/**
 * One Ctrl-C arrives twice, from the terminal and from npm. A second press comes later. In ms.
 */
const onePress = 500;
/** How often the demo reads the certificate that clients get. In ms. */
const look = 250;

process.exit(
  await demo(process.argv.slice(2), process.env).catch((error: unknown) => {
    process.stderr.write(
      `demo: ${error instanceof Fatal ? error.message : String((error as Error).stack)}\n`,
    );
    return error instanceof Fatal ? error.code : exitCodes.software;
  }),
);

/**
 * Runs the built agent with a real Envoy until it ends. The demo makes the certificates and
 * replaces them periodically. Resolves to the exit code of the agent.
 *
 * `flags` go to the agent. From the environment: DEMO_ROTATE_EVERY (a duration, 20s) and
 * DEMO_TLS_PORT (8443, or the next that is free).
 */
async function demo(flags: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const terminal = isatty(1);
  const stop$ = signals(['SIGINT', 'SIGTERM', ...(terminal ? (['SIGHUP'] as const) : [])]).pipe(
    throttleTime(onePress),
    share(),
  );
  const stopped = new AbortController();
  const abort = (reason: unknown) => stopped.abort(reason);
  stop$.subscribe({ next: abort, error: abort });

  const rotateEvery = env['DEMO_ROTATE_EVERY'] ?? '20s';
  const period = periodOf(rotateEvery);
  if (!existsSync(program))
    throw new Fatal(`${program} is not there: run npm run build`, exitCodes.unavailable);
  const given = parseArgs({ args: [...flags], strict: false, options: flagsOfInterest }).values;
  if (given.binaryPath === undefined) await provideEnvoy(env, stopped.signal);
  const ports = {
    tls: await portFor('TLS', env['DEMO_TLS_PORT'], 8443),
    admin: await portFor("Envoy's admin endpoint", given.proxyAdminPort, 15_000),
    status: await portFor('the status server', given.statusPort, 15_020),
  };

  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-demo-'));
  const demoLog = openLog({ level: 'info', json: false, targets: ['stdout'] }, 'agent');
  const log = (logLine: LogLine) => demoLog.write({ component: 'demo', ...logLine });
  demoLog.open();
  try {
    const certDir = join(folder, 'certs');
    const config = join(folder, 'envoy.json');
    const ca = await certificateAuthority();
    writeKubernetesVolume(certDir, certificateFiles(await ca.issue()));
    const run = join(folder, 'run');
    const from =
      given.rotation === 'sds'
        ? { sds: { socket: join(run, 'SDS'), name: 'default' } }
        : { certDir };
    writeFileSync(
      config,
      JSON.stringify(
        envoyConfig({ adminPort: ports.admin, listenPort: ports.tls, ...from }),
        undefined,
        2,
      ),
    );
    const certificates = {
      ISTIO_META_TLS_SERVER_CERT_CHAIN: join(certDir, 'cert-chain.pem'),
      ISTIO_META_TLS_SERVER_KEY: join(certDir, 'key.pem'),
      ISTIO_META_TLS_SERVER_ROOT_CERT: join(certDir, 'root-cert.pem'),
    };
    const defaults = {
      customConfigFile: config,
      configPath: run,
      proxyAdminPort: String(ports.admin),
      statusPort: String(ports.status),
      minDelay: '3s',
      drainDuration: '5s',
      parentShutdownDuration: '8s',
      // Envoy logs warnings of these components at every hot restart. The agent logs the same
      // events.
      proxyComponentLogLevel: 'misc:error,main:error',
    };
    const missing = Object.entries(defaults).filter(
      ([name]) => !flags.some((flag) => flag === `--${name}` || flag.startsWith(`--${name}=`)),
    );
    const args = [
      'proxy',
      'sidecar',
      ...missing.flatMap(([name, value]) => [`--${name}`, value]),
      ...flags,
    ];
    if (stopped.signal.aborted)
      return 128 + constants.signals[stopped.signal.reason as NodeJS.Signals];
    process.stderr.write(
      header({
        rotateEvery,
        ports,
        rootCert: certificates.ISTIO_META_TLS_SERVER_ROOT_CERT,
        args,
        env: certificates,
      }),
    );

    // The agent has its own session, so that only this process passes a Ctrl-C on. The agent ends
    // if this process ends for any reason.
    const setpriv = findExecutable('setpriv', env['PATH']);
    const agent = execa(
      setpriv ?? process.execPath,
      [
        ...(setpriv === undefined ? [] : ['--pdeathsig', 'TERM', process.execPath]),
        program,
        ...args,
      ],
      {
        env: { ...env, ...certificates },
        stdio: ['ignore', 'inherit', 'inherit'],
        detached: true,
        cleanup: false,
        reject: false,
      },
    );
    const forwarded$ = merge(stop$, signals(terminal ? [] : ['SIGHUP'])).pipe(
      tap((name) => agent.kill(name)),
    );
    const rotation$ = interval(period).pipe(
      concatMap(() => ca.issue()),
      tap((issued) => {
        log(line('demo.certificate_written', { serial: issued.serial }));
        writeKubernetesVolume(certDir, certificateFiles(issued));
      }),
      takeUntil(stop$),
    );
    const served$ = interval(look).pipe(
      exhaustMap(() => servedSerial(ports.tls, ca.rootCert)),
      filter((serial) => serial !== undefined),
      distinctUntilChanged(),
      tap((serial) => log(line('demo.certificate_shown', { serial }))),
      takeUntil(stop$),
    );
    const failed = new Promise<never>((_, fail) =>
      merge(forwarded$, rotation$, served$).subscribe({ error: fail }),
    );
    const { exitCode, signal } = await Promise.race([agent, failed]).catch(
      async (error: unknown) => {
        agent.kill('SIGTERM');
        await agent;
        throw error;
      },
    );
    return (
      exitCode ?? (signal === undefined ? exitCodes.software : 128 + constants.signals[signal])
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
    log(line('demo.folder_removed', { path: folder }));
    await demoLog.close();
  }
}

/** Resolves to the given port, or else to the first free one from the usual port on. */
async function portFor(
  what: string,
  given: string | boolean | undefined,
  usual: number,
): Promise<number> {
  if (typeof given === 'string') return portOf(what, given);
  const port = await firstFreePort(usual);
  if (port !== usual) process.stderr.write(`demo: port ${usual} is taken: ${what} gets ${port}\n`);
  return port;
}
