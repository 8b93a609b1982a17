import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenIssuer } from '../../demo/token-issuer.ts';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';
import { cases } from '../differential/cases.ts';
import { servedTo } from '../differential/compare.ts';
import { differences } from '../differential/differences.ts';
import { give, marked, type MarkedCase } from '../differential/marked-folder.ts';
import { ask } from '../support/ask.ts';
import { connects } from '../support/connects.ts';
import { controlPlane } from '../support/control-plane.ts';
import { type Istiod, makeIstiod } from '../support/e2e/istiod.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { acceptingClient } from '../support/proxy-client.ts';
import { workloadAuthority } from '../support/workload-authority.ts';

if (controlPlane === undefined) leftOut('an istiod that reads from pilot-discovery', 'a program');

const kind = 'networking.istio.io/v1/ServiceEntry';
const service = (namespace: string, name: string) => `---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: ${namespace}, creationTimestamp: "2024-01-01T00:00:00Z" }
spec:
  hosts: [${name}.${namespace}.mesh]
  resolution: STATIC
  ports: [{ number: 8080, name: http, protocol: HTTP }]
  endpoints: [{ address: 127.0.0.9 }]
`;
const rules = `---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: a, namespace: shop }
spec:
  hosts: [a.shop.mesh]
  http: [{ timeout: 1m, retries: { attempts: 3 }, route: [{ destination: { host: b.bank.mesh } }] }]
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: refused, namespace: shop }
spec: { selector: { matchLabels: { app: a } }, rules: [{ to: [{ operation: { nope: [GET] } }] }] }
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: default, namespace: shop }
spec: { egress: [{ hosts: ['./*', 'bank/*'] }] }
`;
const proxies = [
  'sidecar~127.0.0.9~a.shop~shop.svc.cluster.local',
  'sidecar~127.0.0.10~b.bank~bank.svc.cluster.local',
  'router~127.0.0.11~gateway.shop~shop.svc.cluster.local',
];

interface Plane {
  readonly xds: number;
  readonly secure: number;
  readonly http: number;
  readonly lines: () => readonly Readonly<Record<string, unknown>>[];
  readonly kill: () => Promise<unknown>;
}

/**
 * The cases in which an istiod differs. It does not complete short names of hosts in resources that
 * it received over xDS: the first four. If two entries give one port of a host two protocols, it
 * uses now one and now the other: the last.
 */
const unlike = ['routes, plain', 'rule-order', 'short-names', 'visibility', 'protocols, plain'];

/** Resolves to the differences that remain for 3 s. */
async function lasting(compared: () => Promise<readonly string[]>): Promise<readonly string[]> {
  for (let turn = 0; turn < 30; turn += 1) {
    if ((await compared()).length === 0) return [];
    await sleep(100);
  }
  return compared();
}

const issuer = tokenIssuer('one');
const audience = { iss: 'https://issuer.test', aud: 'istio-ca' };

describe('a control plane that reads from another one', () => {
  let root: string;
  const ends: (() => unknown)[] = [];
  const place = (name: string) => join(root, name);
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'pilot-discovery-mcp-'));
    const authority = await workloadAuthority();
    const { chain, key } = await authority.issue({
      names: [{ type: 'dns', value: 'istiod.test' }],
    });
    for (const [file, text] of Object.entries({ chain, key, root: authority.root }))
      writeFileSync(place(file), text);
    mkdirSync(place('config'));
    writeFileSync(
      place('config/a.yaml'),
      `${service('shop', 'a')}${service('bank', 'b')}${service('far', 'c')}${rules}`,
    );
    for (const account of ['istiod', 'app'])
      writeFileSync(
        place(`token-${account}`),
        issuer.sign({ ...audience, sub: `system:serviceaccount:edge:${account}` }),
      );
  });
  afterAll(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    rmSync(root, { recursive: true });
  });

  const ports = async () => {
    const [xds = 0, secure = 0, http = 0] = await freePorts(3);
    return { xds, secure, http };
  };

  /** Starts a control plane; `from` is its only source. */
  async function start(
    from:
      | { readonly folder: string; readonly hold?: string }
      | { readonly parent: string; readonly tls?: string },
    readers: string,
    planePorts: Pick<Plane, 'xds' | 'secure' | 'http'>,
    env: Readonly<Record<string, string>> = {},
  ): Promise<Plane> {
    const mesh = place(`mesh-${planePorts.http}`);
    if ('parent' in from)
      writeFileSync(
        mesh,
        JSON.stringify({
          configSources: [
            {
              address: from.parent,
              ...(from.tls !== undefined && {
                tlsSettings: {
                  mode: 'SIMPLE',
                  caCertificates: from.tls,
                  subjectAltNames: ['istiod.test'],
                },
              }),
            },
          ],
        }),
      );
    const child = execa(
      process.execPath,
      [
        ...[resolve('dist/pilot-discovery.cjs'), 'discovery', '--monitoringAddr', ''],
        ...[
          '--grpcAddr',
          `127.0.0.1:${planePorts.xds}`,
          '--httpAddr',
          `127.0.0.1:${planePorts.http}`,
        ],
        ...['--secureGRPCAddr', `127.0.0.1:${planePorts.secure}`, '--configReaders', readers],
        ...['--tlsCertFile', place('chain'), '--tlsKeyFile', place('key')],
        ...['--caCertFile', place('root')],
        ...('folder' in from ? ['--configDir', from.folder] : ['--meshConfig', mesh]),
        ...('hold' in from ? ['--massRemovalHold', from.hold ?? ''] : []),
      ],
      {
        cwd: root,
        buffer: false,
        reject: false,
        env: {
          POD_NAMESPACE: 'edge',
          JWT_RULE: JSON.stringify({
            issuer: audience.iss,
            audiences: [audience.aud],
            jwks: issuer.keys,
          }),
          ...env,
        },
      },
    );
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    const kill = () => (child.kill('SIGKILL'), child);
    ends.push(kill);
    await expect.poll(() => connects(planePorts.http)).toBe(true);
    const lines = () =>
      output
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    return { ...planePorts, lines, kill };
  }

  const ready = ({ http }: Plane) =>
    expect.poll(async () => (await ask(http, '/ready')).status).toBe(200);
  /**
   * Resolves to the versions of all resources that each proxy may receive. Equal bytes have an
   * equal version.
   */
  async function versions({ xds, http }: Plane): Promise<unknown> {
    const clients = proxies.map((id) => acceptingClient(xds, id, typeUrls.cluster));
    try {
      const shown = async () => {
        const all = JSON.parse((await ask(http, '/debug/proxyz')).body) as {
          readonly id: string;
          readonly versions: object;
        }[];
        return Object.fromEntries(all.map(({ id, versions: each }) => [id, each]));
      };
      await expect.poll(async () => Object.keys(await shown()).length).toBe(proxies.length);
      return await shown();
    } finally {
      for (const client of clients) client.close();
    }
  }
  const keys = async ({ http }: Plane) =>
    (
      JSON.parse((await ask(http, '/debug/configz')).body) as {
        kind: string;
        metadata: { namespace: string; name: string };
      }[]
    ).map(
      ({ kind: objectKind, metadata: { namespace, name } }) => `${objectKind}/${namespace}/${name}`,
    );
  const lost = ({ lines }: Plane) =>
    lines().flatMap(({ event, reason }) => (event === 'discovery.source_lost' ? [reason] : []));

  it('gives proxies the same bytes, also over two, keeps them while it is away, and heals', async () => {
    const [parentPorts, childPorts, lastPorts] = await Promise.all([ports(), ports(), ports()]);
    const folder = place('config');
    let parent = await start({ folder }, 'plaintext', parentPorts);
    const child = await start({ parent: `xds://127.0.0.1:${parent.xds}` }, 'plaintext', childPorts);
    const grandchild = await start({ parent: `xds://127.0.0.1:${child.xds}` }, '', lastPorts);
    for (const plane of [parent, child, grandchild]) await ready(plane);
    const direct = await versions(parent);
    expect(JSON.stringify(direct)).toMatch(/"cluster":"[0-9a-f]{32}"/);
    expect(await versions(child)).toEqual(direct);
    expect(await versions(grandchild)).toEqual(direct);
    expect((await ask(parent.http, '/debug/syncz')).body).toContain(`"${kind}":"unchanged"`);

    await parent.kill();
    await expect.poll(() => lost(child)).toEqual([expect.any(String)]);
    expect(await ask(child.http, '/ready')).toMatchObject({ status: 200 });
    expect(await versions(child)).toEqual(direct);
    // The parent starts again with an empty folder: the others keep what they have.
    renameSync(folder, place('away'));
    mkdirSync(folder);
    parent = await start({ folder }, 'plaintext', parentPorts);
    await expect.poll(() => connects(parent.xds)).toBe(true);
    await expect.poll(() => lost(child).length).toBeGreaterThan(0);
    expect(await versions(child)).toEqual(direct);
    rmSync(folder, { recursive: true });
    renameSync(place('away'), folder);
    writeFileSync(place('config/b.yaml'), service('shop', 'd'));
    await expect.poll(() => keys(grandchild)).toContain('ServiceEntry/shop/d');
    await sleep(1_000); // longer than the windows of 100 ms
    const changed = await versions(parent);
    expect(changed).not.toEqual(direct);
    expect(await versions(child)).toEqual(changed);
    expect(await versions(grandchild)).toEqual(changed);
    rmSync(place('config/b.yaml'));
    await expect.poll(() => keys(grandchild)).not.toContain('ServiceEntry/shop/d');
  });

  it('is known by its token over TLS, reads the namespaces of its scopes, and is refused otherwise', async () => {
    const [parentPorts, first, second, third] = await Promise.all([
      ports(),
      ports(),
      ports(),
      ports(),
    ]);
    const parent = await start({ folder: place('config') }, 'edge/istiod', parentPorts);
    await ready(parent);
    const address = (account: string) =>
      `xds://127.0.0.1:${parent.secure}?namespaces=shop&tokenFile=${place(`token-${account}`)}`;
    const child = await start({ parent: address('istiod'), tls: place('root') }, '', first);
    await ready(child);
    expect((await keys(child)).sort()).toEqual([
      'AuthorizationPolicy/shop/refused',
      'ServiceEntry/bank/b',
      'ServiceEntry/shop/a',
      'Sidecar/shop/default',
      'VirtualService/shop/a',
    ]);
    const denied = await start({ parent: address('app'), tls: place('root') }, '', second);
    await expect
      .poll(() => lost(denied))
      .toEqual([
        expect.stringMatching(/edge\/sa\/app, and --configReaders does not have edge\/app/),
      ]);
    const plain = await start({ parent: `xds://127.0.0.1:${parent.xds}` }, '', third);
    await expect.poll(() => lost(plain)).toEqual([expect.stringMatching(/in plain text/)]);
    for (const plane of [denied, plain]) expect((await ask(plane.http, '/ready')).status).toBe(503);
    expect(parent.lines().filter(({ event }) => event === 'discovery.stream_refused')).not.toEqual(
      [],
    );
  });

  describe.skipIf(controlPlane === undefined)('a real istiod', () => {
    let folderIstiod: Istiod;
    let [port, reader]: number[] = [];
    beforeAll(async () => {
      [port = 0, , , reader = 0] = await freePorts(6);
      folderIstiod = makeIstiod(controlPlane ?? '', port);
      await folderIstiod.start();
    });
    afterAll(() => folderIstiod.dispose());

    it('gives proxies the same over pilot-discovery as from the folder', async () => {
      const parent = await start(
        { folder: folderIstiod.folder, hold: '0s' },
        'plaintext',
        await ports(),
      );
      const mesh = place('mesh-of-istiod');
      writeFileSync(mesh, `configSources: [{ address: "xds://127.0.0.1:${parent.xds}" }]\n`);
      const { stdout: program } = await execa(resolve('../shared/peers/get'), [
        'pilot-discovery-1.26',
      ]);
      const istiodEnv = {
        ...{ PILOT_ENABLE_ALPN_FILTER: 'false', PILOT_ENABLE_METADATA_EXCHANGE: 'false' },
        ...{ PILOT_CERT_PROVIDER: 'none', ENABLE_CA_SERVER: 'false', REVISION: 'default' },
        ...{ POD_NAME: 'istiod', POD_NAMESPACE: 'istio-system' },
        ENABLE_TLS_ON_SIDECAR_INGRESS: 'true',
      };
      const [http = 0, metrics = 0] = await freePorts(2);
      const child = execa(
        program,
        [
          ...['discovery', '--registries=', '--meshConfig', mesh, '--ctrlz_port', '0'],
          ...['--grpcAddr', `127.0.0.1:${reader ?? 0}`, '--httpAddr', `127.0.0.1:${http}`],
          ...['--monitoringAddr', `127.0.0.1:${metrics}`, '--httpsAddr', ''],
          ...['--secureGRPCAddr', ''],
        ],
        { cwd: root, buffer: false, reject: false, env: istiodEnv },
      );
      ends.push(() => (child.kill('SIGKILL'), child));
      await expect.poll(() => connects(reader ?? 0)).toBe(true);
      const step = Number(process.env['MCP_CASES_STEP'] ?? 9);
      const chosen = cases
        .filter(({ name }) => !unlike.some((text) => name.startsWith(text)))
        .map(marked)
        .filter((_, index) => index % step === 0);
      const different: string[] = [];
      const giveBoth = async (markedCase: MarkedCase): Promise<void> => {
        await give(folderIstiod, port ?? 0, markedCase);
        await expect
          .poll(async () =>
            JSON.stringify((await servedTo(markedCase, reader ?? 0, 'NONE')).cluster),
          )
          .toContain(`marker-${markedCase.number}.mesh`);
      };
      for (const markedCase of chosen) {
        // In one answer, istiod would lose the endpoints of an entry that replaces another one.
        await giveBoth(marked({ ...markedCase, yaml: '' }, markedCase.number + 1_000));
        await giveBoth(markedCase);
        // Each kind comes in an answer of its own.
        const compared = async () =>
          differences(
            await servedTo(markedCase, reader ?? 0, 'REDIRECT'),
            await servedTo(markedCase, port ?? 0, 'REDIRECT'),
          ).slice(0, 3);
        const differing = await lasting(compared);
        if (differing.length > 0) different.push(`${markedCase.name}: ${differing.join('; ')}`);
      }
      expect(different).toEqual([]);
    });
  });
});
