import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { connects } from '../connects.ts';
import { eventually } from '../eventually.ts';
import { isUp, type KubeApi, kubeApi, portsInARow, startKubeProgram } from './kube-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the Kubernetes API that all files of a run share. */
    readonly sharedKube: string;
  }
}

type Verb = 'up' | 'istiod';

/**
 * Provides a real Kubernetes API and an istiod to a run. The first file that needs one starts it.
 */
export default function provideKube(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-shared-kube-'));
  project.provide('sharedKube', folder);
  const teardown = () => {
    for (const verb of ['istiod', 'up'] as const) end(folder, verb);
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', teardown); // a run that is ended by a signal has no teardown
  return teardown;
}

/** Resolves to the shared API when it answers. */
export async function sharedKubeApi(): Promise<KubeApi> {
  const folder = inject('sharedKube');
  const port = await portOf(folder, 'up', 3);
  await isUp(folder);
  return kubeApi(folder, port);
}

/** Resolves to the first port of istiod, when istiod accepts connections. */
export async function sharedIstiodPort(): Promise<number> {
  const { folder } = await sharedKubeApi();
  const port = await portOf(folder, 'istiod', 4);
  await eventually(() => connects(port + 2));
  return port;
}

/**
 * Resolves to the first port of a program. The first caller starts it: only that one can make
 * the folder `VERB.started`.
 */
async function portOf(folder: string, verb: Verb, count: number): Promise<number> {
  const file = join(folder, `${verb}.port`);
  if (isFirst(join(folder, `${verb}.started`))) {
    const port = await portsInARow(count);
    const program = startKubeProgram(verb, folder, port);
    program.unref();
    writeFileSync(join(folder, `${verb}.pid`), String(program.pid));
    writeFileSync(file, String(port));
  }
  await eventually(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
  return Number(readFileSync(file, 'utf8'));
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function end(folder: string, verb: Verb): void {
  const file = join(folder, `${verb}.pid`);
  if (!existsSync(file)) return;
  try {
    process.kill(-Number(readFileSync(file, 'utf8')), 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
