import { request } from 'node:https';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  endKubeProgram,
  type KubeApi,
  pathOf,
  portsInARow,
  startKubeProgram,
  startKubeServer,
} from '../support/e2e/kube-server.ts';
import { connects } from '../support/connects.ts';
import { eventually } from '../support/eventually.ts';
import { type Case, keyOf, resourceOf } from './cases.ts';
import type { IstioVerdict, Verdict, Verdicts } from './verdicts.ts';

interface Review {
  readonly response?: {
    readonly allowed?: boolean;
    readonly status?: { readonly message?: string };
    readonly warnings?: readonly string[];
  };
}

/** Asks the validating webhook of a real istiod, and a real Kubernetes API, about each case. */
export async function istioVerdicts(cases: readonly Case[]): Promise<Verdicts> {
  const kube = await startKubeServer();
  const port = await portsInARow(5);
  const istiod = startKubeProgram('istiod', kube.folder, port, { WEBHOOK: '1' });
  try {
    await eventually(() => connects(port + 4), { within: 60_000 });
    await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    const verdicts = new Map<string, IstioVerdict>();
    for (const testCase of cases)
      verdicts.set(keyOf(testCase), {
        istiod: await verdictOn(testCase, port + 4),
        schema: await schemaOn(kube, testCase),
      });
    return Object.fromEntries(verdicts);
  } finally {
    await endKubeProgram(istiod);
    await kube.dispose();
  }
}

async function schemaOn(kube: KubeApi, testCase: Case): Promise<string> {
  const resource = resourceOf(testCase);
  try {
    await kube.ask('POST', `${dirname(pathOf(resource))}?dryRun=All`, resource);
    return '';
  } catch (error) {
    const answerJson = /\{.*\}/s.exec(error instanceof Error ? error.message : '')?.[0];
    return (
      (JSON.parse(answerJson ?? '{}') as { readonly message?: string }).message ?? String(error)
    );
  }
}

/**
 * The number of attempts. istiod reads maps in random order, so it may refuse a resource in only
 * one of them.
 */
const attempts = 10;

async function verdictOn(testCase: Case, port: number): Promise<Verdict> {
  let verdict = await askedOnce(testCase, port);
  for (let attempt = 1; attempt < attempts && verdict.refused === ''; attempt += 1)
    verdict = await askedOnce(testCase, port);
  return verdict;
}

async function askedOnce(testCase: Case, port: number): Promise<Verdict> {
  const object = resourceOf(testCase);
  const [group = '', version = ''] = object.apiVersion.split('/');
  const kind = { group, version, kind: testCase.kind };
  const review = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'case', operation: 'CREATE', kind, object },
  };
  const { response } = JSON.parse(await posted(port, JSON.stringify(review))) as Review;
  if (response === undefined) throw new Error(`${keyOf(testCase)}: istiod does not answer`);
  const { allowed, status, warnings = [] } = response;
  return {
    refused: allowed === true ? '' : (status?.message ?? 'without a reason').trim(),
    warnings,
  };
}

function posted(port: number, body: string): Promise<string> {
  // Its certificate is for a name inside a cluster.
  const options = {
    host: '127.0.0.1',
    port,
    path: '/validate',
    method: 'POST',
    rejectUnauthorized: false,
  };
  return new Promise((done, fail) => {
    request(
      { ...options, headers: { 'content-type': 'application/json' } },
      (response) => void text(response).then(done, fail),
    )
      .on('error', fail)
      .end(body);
  });
}
