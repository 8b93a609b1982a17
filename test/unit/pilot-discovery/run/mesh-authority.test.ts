import { asyncScheduler, BehaviorSubject, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AuthorityEvent,
  foldCa,
  initialCa,
} from '../../../../src/pilot-discovery/ca/ca-view.ts';
import { defaultMeshConfig } from '../../../../src/pilot-discovery/istio/mesh/mesh-config.ts';
import { caConfig } from '../../../../src/pilot-discovery/run/ca-config.ts';
import { meshAuthority } from '../../../../src/pilot-discovery/run/mesh-authority.ts';
import { type FakeKube, fakeKube, type KubeDocument } from '../../../support/fake-kube.ts';
import { testIssuer, type TestIssuer } from '../../../support/plugged-authority.ts';
import { testCrl } from '../../../support/test-crl.ts';

const namespace = 'istio-system';
let kube: FakeKube;
let events: AuthorityEvent[];
/** The data of the ConfigMaps with CRLs, by namespace. */
let written: Map<string, unknown>;
let running: Subscription;
let root: TestIssuer;
let middle: TestIssuer;

beforeEach(async () => {
  root = await testIssuer();
  middle = await testIssuer({ subject: 'CN=middle' }, root);
  kube = fakeKube();
  events = [];
  written = new Map();
  for (const name of ['a', 'b'])
    kube.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
});
afterEach(() => running.unsubscribe());

async function run(): Promise<void> {
  const { config } = caConfig({ ROOT_CA_DIR: '/nowhere' }, namespace);
  if (config === undefined) throw new Error('no authority');
  const view$ = new BehaviorSubject({
    ca: initialCa,
    snapshot: { environment: { mesh: defaultMeshConfig } },
  });
  const api = {
    ...kube.api,
    apply: (path: string, body: string) => {
      const [name] = /(?<=namespaces\/)\w+(?=\/configmaps\/istio-ca-crl)/.exec(path) ?? [''];
      written.set(name, (JSON.parse(body) as KubeDocument)['data']);
      return kube.api.apply(path, body);
    },
  };
  const { event$ } = meshAuthority(config, api, view$, asyncScheduler);
  running = event$.subscribe({
    next: (event) => {
      events.push(event);
      view$.next({ ...view$.value, ca: foldCa(view$.value.ca, event) });
    },
    error: expect.unreachable,
  });
  await expect.poll(() => events.map(({ type }) => type)).toContain('authority-read');
}

const cacerts = (crl?: string): KubeDocument => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name: 'cacerts' },
  data: Object.fromEntries(
    Object.entries({
      'ca-cert.pem': middle.certificate,
      'ca-key.pem': middle.key.toString(),
      'cert-chain.pem': middle.certificate + root.certificate,
      'root-cert.pem': root.certificate,
      ...(crl !== undefined && { 'ca-crl.pem': crl }),
    }).map(([key, text]) => [key, Buffer.from(text)]),
  ),
});
const published = () => ['a', 'b'].map((name) => written.get(name));

describe('the CRLs of the Secret cacerts', () => {
  it('are in each namespace as long as they can be used, and are taken back', async () => {
    const crls = (await testCrl(root)) + (await testCrl(middle));
    kube.put(cacerts());
    await run();
    kube.put(cacerts(crls));
    await expect.poll(published).toEqual([{ 'ca-crl.pem': crls }, { 'ca-crl.pem': crls }]);
    kube.put(cacerts(await testCrl(root)));
    await expect
      .poll(() => events.at(-1))
      .toMatchObject({
        type: 'crl-read',
        crl: { text: crls, flaw: 'the CRL of the authority CN=middle is missing' },
      });
    expect(published()[0]).toEqual({ 'ca-crl.pem': crls });
    expect(events.filter(({ type }) => type === 'authority-read')).toHaveLength(1);
    kube.put(cacerts());
    await expect.poll(published).toEqual([{ 'ca-crl.pem': '' }, { 'ca-crl.pem': '' }]);
  });
});
