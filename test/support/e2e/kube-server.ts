import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { connects } from '../connects.ts';
import { eventually } from '../eventually.ts';
import { freePorts } from '../free-ports.ts';

/**
 * The path of a program. It runs a Kubernetes API server and an istiod on it, and makes the folders
 * of pods.
 */
const path = resolve('../shared/peers/kube');
/** The path of that program; undefined if none can be had here. */
export const kubeProgram: string | undefined = existsSync(path) ? path : undefined;

/** A resource of the API. Without a namespace, it belongs to the cluster. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    /** The version of an object that the API has returned. */
    readonly resourceVersion?: string;
  };
  readonly [section: string]: unknown;
}

/** A real Kubernetes API server, without nodes. */
export interface KubeApi {
  readonly folder: string;
  readonly port: number;
  /** The path of a kubeconfig with all rights. */
  readonly kubeconfig: string;
  /** Resolves to the answer of the API; rejects if the API refuses the request. */
  ask(method: string, requestPath: string, body?: unknown, kind?: string): Promise<unknown>;
  /** Creates or changes a resource; resolves to the resource that the API then has. */
  apply(resource: Resource): Promise<Resource>;
  /**
   * Sets the status of a resource, as a controller does; resolves to the resource that the API then
   * has.
   */
  status(resource: Resource, status: unknown): Promise<Resource>;
  remove(resource: Resource): Promise<unknown>;
  /**
   * Puts the files of a pod of that service account into `place`: token, root of the mesh, labels.
   * Creates the namespace and the account.
   */
  pod(place: string, namespace: string, account: string): Promise<void>;
  /**
   * Resolves to a token of a service account. The default audience is the certificate authority.
   */
  token(namespace: string, account: string, audience?: string): Promise<string>;
  /** Creates a service account, and a kubeconfig that uses its token from `tokenFile`. */
  account(
    namespace: string,
    account: string,
  ): Promise<{ readonly kubeconfig: string; readonly tokenFile: string }>;
}

/** A Kubernetes API server that belongs to one test, which may stop it. */
export interface KubeServer extends KubeApi {
  /** Stops the server like a crash: its connections break. Its data is kept. */
  stop(): Promise<void>;
  /** Starts it, or starts it again; resolves when it answers. */
  start(): Promise<void>;
  dispose(): Promise<void>;
}

/**
 * Starts a Kubernetes API server for a test that stops it. Resolves when the API answers, after
 * about 5 s.
 */
export async function startKubeServer(): Promise<KubeServer> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-kube-'));
  const port = await portsInARow(3);
  let server: ChildProcess | undefined;
  const kube: KubeServer = {
    ...kubeApi(folder, port),
    async start() {
      rmSync(join(folder, 'ready'), { force: true });
      server = startKubeProgram('up', folder, port);
      await isUp(folder);
    },
    async stop() {
      await endKubeProgram(server);
      server = undefined;
      await eventually(async () => !(await connects(port)));
    },
    async dispose() {
      await endKubeProgram(server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await kube.start();
  } catch (error) {
    await kube.dispose();
    throw error;
  }
  return kube;
}

/** Resolves when the API in a folder answers. */
export async function isUp(folder: string): Promise<void> {
  await eventually(() => existsSync(join(folder, 'ready')));
}

/** Returns the API of a server that runs in `folder`. */
export function kubeApi(folder: string, port: number): KubeApi {
  const kube: KubeApi = {
    folder,
    port,
    kubeconfig: join(folder, 'kubeconfig'),
    ask: (method, requestPath, body, kind = 'application/json') =>
      new Promise((done, fail) => {
        const options = {
          host: '127.0.0.1',
          port,
          method,
          path: requestPath,
          ca: readFileSync(join(folder, 'certs/apiserver.crt')),
        };
        request(
          { ...options, headers: { authorization: 'Bearer admin-token', 'content-type': kind } },
          (response) => {
            text(response)
              .then((answer) => {
                if ((response.statusCode ?? 0) < 300) done(JSON.parse(answer));
                else fail(new Error(`${requestPath}: ${response.statusCode ?? 0} ${answer}`));
              })
              .catch(fail);
          },
        )
          .on('error', fail)
          .end(body === undefined ? '' : JSON.stringify(body));
      }),
    apply: (resource) =>
      kube.ask(
        'PATCH',
        `${pathOf(resource)}?fieldManager=test&force=true`,
        resource,
        'application/apply-patch+yaml',
      ) as Promise<Resource>,
    status: (resource, status) =>
      kube.ask(
        'PATCH',
        `${pathOf(resource)}/status`,
        { status },
        'application/merge-patch+json',
      ) as Promise<Resource>,
    remove: (resource) => kube.ask('DELETE', pathOf(resource)),
    pod: async (place, namespace, account) => {
      await promisify(execFile)(kubeProgram ?? '', ['pod', folder, place, namespace, account]);
    },
    token: async (namespace, account, audience = 'istio-ca') =>
      (
        await promisify(execFile)(
          kubeProgram ?? '',
          ['token', folder, namespace, account, audience],
          { encoding: 'utf8' },
        )
      ).stdout.trim(),
    async account(namespace, account) {
      await kube.apply({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { namespace, name: account },
      });
      const [tokenFile, kubeconfig] = [
        join(folder, `${account}.token`),
        join(folder, `${account}.kubeconfig`),
      ];
      writeFileSync(
        tokenFile,
        await kube.token(namespace, account, 'https://kubernetes.default.svc'),
      );
      const admin = JSON.parse(readFileSync(kube.kubeconfig, 'utf8')) as Record<string, unknown>;
      writeFileSync(
        kubeconfig,
        JSON.stringify({ ...admin, users: [{ name: 'admin', user: { tokenFile } }] }),
      );
      return { kubeconfig, tokenFile };
    },
  };
  return kube;
}

/**
 * Creates or changes an object, and sets its status as a controller would, if it has one. Resolves
 * to the object that the API then has.
 */
export async function applyWithStatus(
  kube: KubeApi,
  { status, ...resource }: Resource,
): Promise<Resource> {
  const applied = await kube.apply(resource);
  return status === undefined ? applied : kube.status(applied, status);
}

export function startKubeProgram(
  verb: 'up' | 'istiod',
  folder: string,
  port: number,
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  const output = openSync(join(folder, `${verb}.log`), 'a');
  const options = {
    stdio: ['ignore' as const, output, output],
    detached: true,
    env: { ...process.env, ...env },
  };
  return spawn(kubeProgram ?? '', [verb, folder, String(port)], options);
}

/** Ends a program and the processes that it has started. */
export async function endKubeProgram(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}

/** Resolves to the first of `count` free ports in a row. */
export async function portsInARow(count: number): Promise<number> {
  for (;;) {
    const [first = 0, ...others] = await freePorts(count);
    if (others.every((port, index) => port === first + index + 1)) return first;
  }
}

/** Returns the path of a resource in the API. */
export function pathOf({ apiVersion, kind, metadata: { name, namespace } }: Resource): string {
  const plural = kind
    .toLowerCase()
    .replace(/(?<![aeiou])y$/, 'ie')
    .concat(kind === 'Endpoints' ? '' : 's');
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return [base, ...(namespace === undefined ? [] : ['namespaces', namespace]), plural, name].join(
    '/',
  );
}
