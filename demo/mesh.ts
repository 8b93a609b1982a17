import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import {
  bufferCount,
  EMPTY,
  exhaustMap,
  interval,
  merge,
  share,
  takeUntil,
  tap,
  throttleTime,
  timer,
} from 'rxjs';
import { answerOf } from './answer-of.ts';
import { line } from '../src/shared/log/log-line.ts';
import { exitCodes, Fatal } from '../src/shared/program/exit.ts';
import { findExecutable } from '../src/pilot-agent/envoy/find-envoy.ts';
import { openLog } from '../src/shared/log/open-log.ts';
import { signals } from '../src/streams/process-events.ts';
import { firstFreePort } from './first-free-port.ts';
import { identitiesText, principalsOf } from './identities-text.ts';
import { type MeshAuthority, meshAuthority } from './mesh-authority.ts';
import { type ConsulPorts, findConsul, type MeshConsul, meshConsul } from './mesh-consul.ts';
import { provideEnvoy } from './provide-envoy.ts';
import { type GatewayPorts, type IngressGateway, ingressGateway } from './ingress-gateway.ts';
import type { Command, ProxyPorts } from './mesh-agent.ts';
import { addresses, type MeshPorts, twoSidecars } from './two-sidecars.ts';

const programOf = (name: string) => fileURLToPath(new URL(`../dist/${name}.cjs`, import.meta.url));
/** One Ctrl-C arrives twice, from the terminal and from npm. A second press comes later. In ms. */
const onePress = 500;
/** The pause between requests, in ms, and the number of answers in one line of the log. */
const [pause, answersPerLine] = [100, 50];
/** When the identities are shown first, and how often. In ms. */
const [firstIdentities, identitiesEvery] = [10_000, 15_000];

process.exit(
  await mesh(process.env, optionsOf()).catch((error: unknown) => {
    process.stderr.write(
      `mesh: ${error instanceof Fatal ? error.message : String((error as Error).stack)}\n`,
    );
    return error instanceof Fatal ? error.code : exitCodes.software;
  }),
);

/** The sources of certificates and instances for the demo. */
interface MeshOptions {
  /** The control plane issues the certificates. */
  readonly certificates: 'files' | 'control plane';
  /** The instances are in a folder, or in the Consul that this program starts. */
  readonly instances: 'files' | { readonly consul: string };
}

/** Reads the flags; ends the process if one is wrong, or if there is no Consul. */
function optionsOf(): MeshOptions {
  try {
    const { ca, consul, consulBinary } = parseArgs({
      options: {
        ca: { type: 'boolean', default: false },
        consul: { type: 'boolean', default: false },
        consulBinary: { type: 'string' },
      },
    }).values;
    const isConsulUsed = consul || consulBinary !== undefined;
    return {
      certificates: ca ? 'control plane' : 'files',
      instances: isConsulUsed ? { consul: findConsul(consulBinary, process.env['PATH']) } : 'files',
    };
  } catch (error) {
    const [text, code] =
      error instanceof Fatal
        ? [error.message, error.code]
        : [
            `${(error as Error).message} The flags are --ca, --consul and --consulBinary FILE.`,
            exitCodes.usage,
          ];
    process.stderr.write(`mesh: ${text}\n`);
    process.exit(code);
  }
}

/**
 * Runs a control plane, a gateway and two sidecars over a folder of YAML until a signal. Meanwhile
 * it sends requests through one sidecar to the other. If the control plane issues the certificates,
 * the identities of all calls are shown. Resolves to the exit code.
 */
async function mesh(env: NodeJS.ProcessEnv, options: MeshOptions): Promise<number> {
  const stop$ = signals(['SIGINT', 'SIGTERM', ...(isatty(1) ? (['SIGHUP'] as const) : [])]).pipe(
    throttleTime(onePress),
    share(),
  );
  const stopped = new AbortController();
  const isStopped = () => stopped.signal.aborted;
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
  const calls = new Map<string, number>();
  const sidecars = await twoSidecars(folder, ports, (headers) => {
    const principals = principalsOf(headers['x-forwarded-client-cert']?.toString());
    calls.set(principals, (calls.get(principals) ?? 0) + 1);
  });
  const front = await ingressGateway(folder, sidecars, ports);
  const consul =
    options.instances === 'files'
      ? undefined
      : await meshConsul(options.instances.consul, sidecars, ports);
  const command = consul?.discovery ?? sidecars.discovery;
  const authority =
    options.certificates === 'files' ? undefined : meshAuthority(folder, command, ports.secure);
  const log = openLog({ level: 'info', json: false, targets: ['stdout'] }, 'agent');
  log.open();
  try {
    if (isStopped()) return exitCodes.ok; // while Consul started
    process.stderr.write(header(sidecars.configDir, front, ports, { authority, consul }));
    const setpriv = findExecutable('setpriv', env['PATH']);
    const start = (program: string, { args, env: ownEnv, cwd = process.cwd() }: Command) =>
      execa(
        setpriv ?? process.execPath,
        [
          ...(setpriv === undefined ? [] : ['--pdeathsig', 'TERM', process.execPath]),
          programOf(program),
          ...args,
        ],
        {
          ...{ env: { ...env, ...ownEnv }, cwd },
          stdio: ['ignore', 'inherit', 'inherit'],
          detached: true,
          cleanup: false,
          reject: false,
        },
      );
    const discovery = start('pilot-discovery', authority?.discovery ?? command);
    const root = await Promise.race([
      authority?.root(stopped.signal),
      discovery.then(() => undefined),
    ]);
    const isPrepared = authority === undefined || root !== undefined;
    if (!isPrepared) discovery.kill('SIGTERM');
    const agents = [sidecars.agents.echo, sidecars.agents.client, front.agent]
      .filter(() => isPrepared)
      .map((agent) => start('pilot-agent', authority?.agent(agent) ?? agent));
    const identities$ = timer(firstIdentities, identitiesEvery).pipe(
      tap(() => process.stdout.write(identities(authority, root, calls))),
      takeUntil(stop$),
    );
    const forwarded$ = stop$.pipe(tap((name) => agents.forEach((agent) => agent.kill(name))));
    const answers$ = interval(pause).pipe(
      exhaustMap(() => answerOf(ports.service)), // an answer may take longer than the pause
      bufferCount(answersPerLine),
      tap((answers) =>
        log.write(line('demo.answers', { component: 'demo', ...counts(answers) }, answersPerLine)),
      ),
      takeUntil(stop$),
    );
    const failed = new Promise<never>((_, fail) =>
      merge(forwarded$, answers$, root === undefined ? EMPTY : identities$).subscribe({
        error: fail,
      }),
    );
    const first = await Promise.race([discovery, ...agents, failed]);
    if (!isStopped()) agents.forEach((agent) => agent.kill('SIGTERM'));
    await Promise.all(agents);
    // The control plane ends last, so that draining sidecars do not report that it is away.
    discovery.kill('SIGTERM');
    await discovery;
    if (isStopped()) return exitCodes.ok;
    return (
      first.exitCode ??
      (first.signal === undefined ? exitCodes.software : 128 + constants.signals[first.signal])
    );
  } finally {
    await consul?.dispose();
    await sidecars.dispose();
    rmSync(folder, { recursive: true, force: true });
    await log.close();
  }
}

/** The calls and the certificates so far, for a terminal. */
function identities(
  authority: MeshAuthority | undefined,
  root: string | undefined,
  calls: ReadonlyMap<string, number>,
): string {
  if (authority === undefined || root === undefined || calls.size === 0) return '';
  const shown = ['client', 'echo', 'gateway'].flatMap((name) => {
    const file = join(authority.certificatesOf(name), 'cert-chain.pem');
    return existsSync(file) ? [{ name, chain: readFileSync(file, 'utf8') }] : [];
  });
  return identitiesText(calls, shown, root, Date.now());
}

function counts(answers: readonly string[]): Readonly<Record<string, number>> {
  return answers.reduce<Record<string, number>>(
    (all, answer) => ({ ...all, [answer]: (all[answer] ?? 0) + 1 }),
    {},
  );
}

interface AllPorts extends MeshPorts {
  /** The port of the control plane over TLS. */
  readonly secure: number;
  readonly gateway: GatewayPorts;
  readonly consul: ConsulPorts;
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
    secure: await free(),
    http: await free(),
    monitoring: await free(),
    client: await proxy(),
    echo: await proxy(),
    gateway: { ...(await proxy()), https: await free(8_443) },
    inbound: [await free(), await free()],
    consul: { http: await free(8_500), server: await free(), serf: await free() },
  };
}

/** The text before the log: what runs where, and what to try. */
function header(
  configDir: string,
  { root }: IngressGateway,
  { service, http, monitoring, client, echo, gateway, inbound }: AllPorts,
  {
    authority,
    consul,
  }: { readonly authority: MeshAuthority | undefined; readonly consul: MeshConsul | undefined },
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
${authority === undefined ? '' : aboutAuthority(authority, inbound[0])}${consul === undefined ? '' : aboutConsul(consul, http)}  The agents: http://127.0.0.1:${client.status}/ (client), http://127.0.0.1:${echo.status}/ (echo),
    http://127.0.0.1:${gateway.status}/ (gateway)

  Ctrl-C drains the Envoys and ends the demo.

`;
}

function aboutAuthority({ rootFile, certificatesOf }: MeshAuthority, inbound: number): string {
  return `    curl http://${addresses.echo}:${inbound}/        # without a certificate of the mesh: refused
    openssl verify -CAfile ${rootFile} ${certificatesOf('client')}/cert-chain.pem
  pilot-discovery issues the certificates, by token. Each lasts 4 minutes, and is renewed after 2.
`;
}

function aboutConsul({ url, pid, spare }: MeshConsul, http: number): string {
  return `
  The instances of echo are in Consul, ${url}:
    curl -X PUT ${url}/v1/agent/service/register -d '${JSON.stringify(spare)}'
        # a third instance: its answers, ${spare.ID.replace('echo-', '')}, join those of v1
    curl -X PUT ${url}/v1/agent/service/deregister/${spare.ID}      # and it is gone
    kill -9 ${pid}        # without Consul the last instances stay, and the answers go on
    curl http://127.0.0.1:${http}/ready        # says why Consul cannot be read

`;
}
