import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { connects } from '../../support/connects.ts';
import { eventually } from '../../support/eventually.ts';
import { freePorts } from '../../support/free-ports.ts';

/** Runs a Kubernetes API server, an istiod on it, and makes the folders of pods. */
const path = resolve('../shared/peers/kube');
/** Undefined where there is none to be had. */
export const kubeProgram: string | undefined = existsSync(path) ? path : undefined;

/** What the API keeps. A resource without a namespace is one of the cluster. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly [section: string]: unknown;
}

/** A real Kubernetes API server, without nodes, and a real istiod on it. */
export interface Kube {
  /** Where istiod takes agents: xDS and certificates, over TLS. */
  readonly istiodPort: number;
  /** Where it takes them without TLS: xDS alone. */
  readonly plaintextPort: number;
  /** Starts istiod, or starts it again; resolves when it takes connections. */
  startIstiod(): Promise<void>;
  /** Its connections are refused from then on. */
  stopIstiod(): Promise<void>;
  /** Makes a resource, or changes it; resolves to what the API has then. */
  apply(resource: Resource): Promise<Resource>;
  /** Sets what a controller would say of a resource. */
  status(resource: Resource, status: Readonly<Record<string, unknown>>): Promise<Resource>;
  /**
   * Puts into `folder` what a pod of that service account has: token, root of the mesh, labels.
   * Makes the namespace and the account.
   */
  pod(folder: string, namespace: string, account: string): Promise<void>;
  /** A token of a service account for the certificate authority. */
  token(namespace: string, account: string): Promise<string>;
  dispose(): Promise<void>;
}

/** Resolves when the API answers and istiod takes connections, after about 8 s. */
export async function startKube(): Promise<Kube> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-kube-'));
  const [api, istiod] = [await portsInARow(3), await portsInARow(4)];
  const run = (...args: readonly string[]) => promisify(execFile)(kubeProgram ?? '', args, { encoding: 'utf8' });
  const server = start('up', folder, api);
  let control: ChildProcess | undefined;

  const patch = (at: string, kind: string, body: unknown) =>
    new Promise<Resource>((done, fail) => {
      const options = { host: '127.0.0.1', port: api, method: 'PATCH', path: at, ca: readFileSync(join(folder, 'certs/apiserver.crt')) };
      request({ ...options, headers: { authorization: 'Bearer admin-token', 'content-type': kind } }, (response) => {
        void text(response).then((said) => {
          if ((response.statusCode ?? 0) < 300) done(JSON.parse(said) as Resource);
          else fail(new Error(`${at}: ${response.statusCode ?? 0} ${said}`));
        }, fail);
      }).on('error', fail).end(JSON.stringify(body)); // prettier-ignore
    });

  const kube: Kube = {
    istiodPort: istiod + 2,
    plaintextPort: istiod,
    async startIstiod() {
      control = start('istiod', folder, istiod);
      await eventually(() => connects(istiod + 2), { within: 20_000 });
    },
    async stopIstiod() {
      await end(control);
      control = undefined;
      await eventually(async () => !(await connects(istiod + 2)), { within: 5_000 });
    },
    apply: (resource) => patch(`${pathOf(resource)}?fieldManager=test&force=true`, 'application/apply-patch+yaml', resource),
    status: (resource, status) => patch(`${pathOf(resource)}/status`, 'application/merge-patch+json', { status }),
    pod: async (at, namespace, account) => {
      await run('pod', folder, at, namespace, account);
    },
    token: async (namespace, account) => (await run('token', folder, namespace, account)).stdout.trim(),
    async dispose() {
      await Promise.all([control, server].map(end));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await eventually(() => existsSync(join(folder, 'ready')), { within: 60_000 });
    await kube.startIstiod();
  } catch (error) {
    await kube.dispose();
    throw error;
  }
  return kube;
}

function start(verb: 'up' | 'istiod', folder: string, port: number): ChildProcess {
  const output = openSync(join(folder, `${verb}.log`), 'a');
  return spawn(kubeProgram ?? '', [verb, folder, String(port)], { stdio: ['ignore', output, output], detached: true });
}

/** Ends a program with all that it has started. */
async function end(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}

/** The first of `count` free ports in a row. */
async function portsInARow(count: number): Promise<number> {
  for (;;) {
    const [first = 0, ...others] = await freePorts(count);
    if (others.every((port, at) => port === first + at + 1)) return first;
  }
}

/** Where the API has a resource. */
function pathOf({ apiVersion, kind, metadata: { name, namespace } }: Resource): string {
  const plural = kind.toLowerCase().replace(/y$/, 'ie').concat('s');
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return [base, ...(namespace === undefined ? [] : ['namespaces', namespace]), plural, name].join('/');
}
