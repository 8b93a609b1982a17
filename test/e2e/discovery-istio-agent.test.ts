import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { certificateAuthority } from '../../demo/certificates.ts';
import { ask } from '../support/ask.ts';
import { hasIstioAgent } from '../support/e2e/istio-agent.ts';
import { hostOf, identity, istiodPlace, namespace, strict } from '../support/e2e/istiod-place.ts';
import { kubeProgram, type Resource } from '../support/e2e/kube-server.ts';
import { hasNetworks } from '../support/e2e/network.ts';
import { ports } from '../support/e2e/sidecar-pod.ts';
import { leftOut } from '../support/left-out.ts';
import { startLoad } from '../support/load.ts';

const isPossible = kubeProgram !== undefined && hasIstioAgent && hasNetworks;
if (kubeProgram === undefined || !hasIstioAgent)
  leftOut("Istio's agent over pilot-discovery", 'a program');
else if (!hasNetworks) leftOut("Istio's agent over pilot-discovery, in networks of their own");

describe.skipIf(!isPossible)("Istio's own agent over pilot-discovery", () => {
  const place = istiodPlace();

  it('gets its certificate by token, its configuration, and calls by STRICT mTLS both ways', async () => {
    const { kube, program, sidecar, issued } = place();
    await kube.apply(strict);
    const theirs = await sidecar('theirs', 'Istio');
    const ours = await sidecar('ours');
    const toOurs = await theirs.connection(ours);
    const toTheirs = await ours.connection(theirs);
    for (const [client, server, connection] of [
      [theirs, ours, toOurs],
      [ours, theirs, toTheirs],
    ] as const) {
      const get = () => ask(connection, '/', { host: hostOf(server.name) });
      await expect.poll(get).toMatchObject({ status: 200 });
      const { body } = await get();
      expect(body).toContain(`By=${identity(server.name)};`);
      expect(body).toContain(`URI=${identity(client.name)}"`);
    }
    // Istio's agent receives its configuration by delta xDS from the secure port, and follows
    // changes.
    await kube.apply({
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: { name: 'ours', namespace },
      spec: {
        hosts: [`ours.${namespace}.svc.cluster.local`],
        http: [{ directResponse: { status: 418 } }],
      },
    });
    await expect
      .poll(() => ask(toOurs, '/', { host: hostOf('ours') }))
      .toMatchObject({ status: 418 });
    expect(issued()).toEqual(new Set(['theirs', 'ours'].map(identity)));
    for (const event of ['caller_refused', 'certificate_refused', 'rejected', 'stream_refused'])
      expect(program.lines(`discovery.${event}`)).toEqual([]);
  });

  it('is a gateway with a Secret of the API, which is pushed when it changes: no request fails', async () => {
    const { kube, network, program, gateway } = place();
    const ca = await certificateAuthority();
    const secret = async () => {
      const { certChain, key, serial } = await ca.issue();
      await kube.apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'front', namespace },
        type: 'kubernetes.io/tls',
        data: { 'tls.crt': base64(certChain), 'tls.key': base64(key) },
      });
      return serial;
    };
    for (const resource of [...mayListSecrets('gate'), ...frontOf('gate')])
      await kube.apply(resource);
    const first = await secret();
    const gate = await gateway('gate');
    const outside = join(network.folder, 'gate.sock');
    await network.outside.relay([[outside, `${gate.address}:${port}`]]);
    const load = {
      mode: 'new-connection',
      clients: 2,
      pause: 5,
      tls: { ca: ca.rootCert },
    } as const;
    const once = async () => {
      const probe = startLoad({ port: outside, ...load });
      return (await probe.stop()).ok > 0;
    };
    await expect.poll(once).toBe(true);
    const under = startLoad({ port: outside, ...load });
    await expect.poll(() => under.counts.serials).toEqual(new Set([first]));
    const serials = [first];
    for (let round = 0; round < 2; round += 1) {
      serials.push(await secret());
      await expect.poll(() => under.counts.serials).toEqual(new Set(serials));
    }
    const { failed, errors } = await under.stop();
    expect([failed, [...errors]]).toEqual([0, []]);
    for (const event of ['rejected', 'secrets_refused', 'secrets_denied', 'secret_refused'])
      expect(program.lines(`discovery.${event}`)).toEqual([]);
  });
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');
/** The port of the gateway. */
const port = 8443;
const networking = (kind: string, name: string, spec: object): Resource => ({
  ...{ apiVersion: 'networking.istio.io/v1', kind, metadata: { name, namespace }, spec },
});

/** Returns a gateway with TLS in front of the application of its pod. */
const frontOf = (app: string): readonly Resource[] => [
  networking('Gateway', 'front', {
    selector: { app },
    servers: [
      {
        port: { number: port, name: 'https', protocol: 'HTTPS' },
        hosts: ['*'],
        tls: { mode: 'SIMPLE', credentialName: 'front' },
      },
    ],
  }),
  networking('ServiceEntry', 'application', {
    hosts: ['application.mesh'],
    resolution: 'STATIC',
    ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
    endpoints: [{ address: '127.0.0.1', ports: { http: ports.application } }],
  }),
  networking('VirtualService', 'front', {
    hosts: ['*'],
    gateways: ['front'],
    http: [{ route: [{ destination: { host: 'application.mesh' } }] }],
  }),
];

/** Returns the rights with which an account lists the Secrets of its namespace. */
const mayListSecrets = (name: string): readonly Resource[] => {
  const apiGroup = 'rbac.authorization.k8s.io';
  const object = (kind: string): Resource => ({
    ...{ apiVersion: `${apiGroup}/v1`, kind, metadata: { name, namespace } },
  });
  return [
    {
      ...object('Role'),
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] }],
    },
    {
      ...object('RoleBinding'),
      roleRef: { apiGroup, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ];
};
