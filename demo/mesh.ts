import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import {
  bufferCount,
  concatMap,
  interval,
  merge,
  Observable,
  share,
  takeUntil,
  tap,
  throttleTime,
} from 'rxjs';
import { line } from '../src/shared/log/log-line.ts';
import { exitCodes, Fatal } from '../src/shared/program/exit.ts';
import { findExecutable } from '../src/pilot-agent/envoy/find-envoy.ts';
import { openLog } from '../src/shared/log/open-log.ts';
import { signals } from '../src/streams/process-events.ts';
import { firstFreePort } from './first-free-port.ts';
import { provideEnvoy } from './provide-envoy.ts';
import { type GatewayPorts, type IngressGateway, ingressGateway } from './ingress-gateway.ts';
import type { Command, ProxyPorts } from './mesh-agent.ts';
import { type MeshPorts, twoSidecars } from './two-sidecars.ts';

const programOf = (name: string) => fileURLToPath(new URL(`../dist/${name}.cjs`, import.meta.url));
/** One Ctrl-C arrives twice, from the terminal and from npm. A second press comes later. In ms. */
const onePress = 500;
/** The pause between requests, in ms, and the number of answers that one line of the log counts. */
const [pause, answersPerLine] = [100, 50];

process.exit(
  await mesh(process.env).catch((error: unknown) => {
    process.stderr.write(
      `mesh: ${error instanceof Fatal ? error.message : String((error as Error).stack)}\n`,
    );
    return error instanceof Fatal ? error.code : exitCodes.software;
  }),
);

/**
 * Runs a control plane, a gateway and two sidecars over a folder of YAML until a signal. Meanwhile
 * it sends requests through one sidecar to the other. Resolves to the exit code.
 */
async function mesh(env: NodeJS.ProcessEnv): Promise<number> {
  const stop$ = signals(['SIGINT', 'SIGTERM', ...(isatty(1) ? (['SIGHUP'] as const) : [])]).pipe(
    throttleTime(onePress),
    share(),
  );
  const stopped = new AbortController();
  stop$.subscribe({
    next: (name) => stopped.abort(name),
    error: (error: unknown) => stopped.abort(error),
  });
  for (const name of ['pilot-agent', 'pilot-discovery'])
    if (!existsSync(programOf(name)))
      throw new Fatal(`${programOf(name)} is not there: run npm run build`, exitCodes.unavailable);
  await provideEnvoy(env, stopped.signal);

  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-mesh-'));
  const ports = await portsOfMesh();
  const made = await twoSidecars(folder, ports);
  const front = await ingressGateway(folder, made, ports);
  const log = openLog({ level: 'info', json: false, targets: ['stdout'] }, 'agent');
  log.open();
  try {
    process.stderr.write(header(made.configDir, front, ports));
    const setpriv = findExecutable('setpriv', env['PATH']);
    const start = (program: string, { args, env: own }: Command) =>
      execa(
        setpriv ?? process.execPath,
        [
          ...(setpriv === undefined ? [] : ['--pdeathsig', 'TERM', process.execPath]),
          programOf(program),
          ...args,
        ],
        {
          env: { ...env, ...own },
          stdio: ['ignore', 'inherit', 'inherit'],
          detached: true,
          cleanup: false,
          reject: false,
        },
      );
    const discovery = start('pilot-discovery', made.discovery);
    const agents = [
      start('pilot-agent', made.agents.echo),
      start('pilot-agent', made.agents.client),
      start('pilot-agent', front.agent),
    ];
    const forwarded$ = stop$.pipe(tap((name) => agents.forEach((agent) => agent.kill(name))));
    const answers$ = interval(pause).pipe(
      concatMap(() => answerOf(ports.service)),
      bufferCount(answersPerLine),
      tap((answers) =>
        log.write(line('demo.answers', { component: 'demo', ...counts(answers) }, answersPerLine)),
      ),
      takeUntil(stop$),
    );
    const failed = new Promise<never>((_, fail) =>
      merge(forwarded$, answers$).subscribe({ error: fail }),
    );
    const first = await Promise.race([discovery, ...agents, failed]);
    if (!stopped.signal.aborted) agents.forEach((agent) => agent.kill('SIGTERM'));
    await Promise.all(agents);
    // Ended last, so that draining sidecars do not report it as away.
    discovery.kill('SIGTERM');
    await discovery;
    if (stopped.signal.aborted) return exitCodes.ok;
    return (
      first.exitCode ??
      (first.signal === undefined ? exitCodes.software : 128 + constants.signals[first.signal])
    );
  } finally {
    await made.dispose();
    rmSync(folder, { recursive: true, force: true });
    await log.close();
  }
}

/** Emits what a client of `echo.mesh` gets: a line, a status, or why there is no answer. */
function answerOf(port: number): Observable<string> {
  return new Observable<string>((subscriber) => {
    const asked = request(
      { host: '127.0.0.1', port, headers: { host: 'echo.mesh' }, timeout: 5_000 },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
        response.on('end', () => {
          subscriber.next(response.statusCode === 200 ? body.trim() : String(response.statusCode));
          subscriber.complete();
        });
      },
    );
    asked.on('error', ({ message }) => {
      subscriber.next(message);
      subscriber.complete();
    });
    asked.end();
    return () => asked.destroy();
  });
}

function counts(answers: readonly string[]): Readonly<Record<string, number>> {
  return answers.reduce<Record<string, number>>(
    (all, answer) => ({ ...all, [answer]: (all[answer] ?? 0) + 1 }),
    {},
  );
}

interface AllPorts extends MeshPorts {
  readonly gateway: GatewayPorts;
}

async function portsOfMesh(): Promise<AllPorts> {
  let next = 15_100;
  const free = async (wanted = next) => {
    const port = await firstFreePort(wanted);
    if (wanted === next) next = port + 1;
    return port;
  };
  const proxy = async (): Promise<ProxyPorts> => ({
    admin: await free(),
    status: await free(),
    prometheus: await free(),
    health: await free(),
  });
  return {
    service: await free(8_000),
    xds: await free(),
    http: await free(),
    monitoring: await free(),
    client: await proxy(),
    echo: await proxy(),
    gateway: { ...(await proxy()), https: await free(8_443) },
    inbound: [await free(), await free()],
  };
}

/** The text before the log: what runs where, and what to try. */
function header(
  configDir: string,
  { root }: IngressGateway,
  { service, http, monitoring, client, echo, gateway }: AllPorts,
): string {
  return `
pilot-discovery demo: a gateway, two sidecars, and echo.mesh in two versions, configured by the files in
  ${configDir}

  Try, in another terminal:
    curl -H 'Host: echo.mesh' http://127.0.0.1:${service}/
    curl --cacert ${root} -H 'Host: echo.mesh' https://localhost:${gateway.https}/    # from outside
    $EDITOR ${configDir}/40-route.yaml        # change the weights, and save
    curl http://127.0.0.1:${http}/debug/syncz
    curl http://127.0.0.1:${monitoring}/metrics
  The agents: http://127.0.0.1:${client.status}/ (client), http://127.0.0.1:${echo.status}/ (echo),
    http://127.0.0.1:${gateway.status}/ (gateway)

  Ctrl-C drains the Envoys and ends the demo.

`;
}
