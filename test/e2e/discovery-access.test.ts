import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { eventually } from '../support/eventually.ts';
import { twoSidecarsRig, type TwoSidecarsRig } from '../support/e2e/two-sidecars-rig.ts';

const client = 'cluster.local/ns/shop/sa/client';

/** The statuses of the requests that `answers` sends below with {@link TwoSidecarsRig}. */
interface Answers {
  readonly get: number;
  readonly admin: number;
  readonly post: number;
  readonly root: number;
  /** The status of a request without a certificate, and so without an identity. */
  readonly plain: number;
}

const all = (status: number): Answers => ({
  get: status,
  admin: status,
  post: status,
  root: status,
  plain: status,
});
const open = all(200);

const policy = (spec: string, more = 'namespace: default') => `---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: a${more === '' ? '' : `, ${more}`} }
spec: ${spec}
`;

describe('an AuthorizationPolicy over two real sidecars', () => {
  let rig: TwoSidecarsRig;
  beforeAll(async () => {
    rig = await twoSidecarsRig();
    rig.write('30-mtls.yaml', rig.read('30-mtls.yaml').replace('STRICT', 'PERMISSIVE'));
    rig.startDiscovery();
    rig.startAgents();
    await eventually(async () => (await answers()).plain === 200);
  });
  afterAll(() => rig.dispose());

  async function answers(): Promise<Answers> {
    const [get, admin, post, root, plain] = await Promise.all([
      rig.ask(),
      rig.ask('/admin/x'),
      ask(rig.ports.service, '/', { host: 'echo.mesh', method: 'POST' }),
      rig.ask('/', { 'x-user': 'root' }),
      rig.askPlain(),
    ]);
    return {
      get: get.status,
      admin: admin.status,
      post: post.status,
      root: root.status,
      plain: plain.status,
    };
  }

  it.each<[what: string, text: string, right: Answers]>([
    ['ALLOW without a rule lets nobody through', policy('{}'), all(403)],
    ['ALLOW with an empty rule', policy('{ rules: [{}] }'), open],
    [
      'ALLOW of a method',
      policy('{ rules: [{ to: [{ operation: { methods: [GET] } }] }] }'),
      { ...open, post: 403 },
    ],
    [
      'DENY of paths',
      policy('{ action: DENY, rules: [{ to: [{ operation: { paths: ["/admin/*"] } }] }] }'),
      { ...open, admin: 403 },
    ],
    [
      'DENY of all paths but a template',
      policy('{ action: DENY, rules: [{ to: [{ operation: { notPaths: ["/admin/{*}"] } }] }] }'),
      { ...all(403), admin: 200 },
    ],
    [
      'ALLOW of a principal',
      policy(`{ rules: [{ from: [{ source: { principals: [${client}] } }] }] }`),
      { ...open, plain: 403 },
    ],
    [
      'ALLOW of another principal',
      policy('{ rules: [{ from: [{ source: { principals: ["*/sa/other"] } }] }] }'),
      all(403),
    ],
    [
      'DENY of all principals but one',
      policy(`{ action: DENY, rules: [{ from: [{ source: { notPrincipals: [${client}] } }] }] }`),
      { ...open, plain: 403 },
    ],
    [
      'ALLOW of a namespace',
      policy('{ rules: [{ from: [{ source: { namespaces: [shop] } }] }] }'),
      { ...open, plain: 403 },
    ],
    [
      'ALLOW of an account, and one header of it not',
      policy(
        '{ rules: [{ from: [{ source: { serviceAccounts: [shop/client] } }], when: [{ key: "request.headers[x-user]", notValues: ["ro*"] }] }] }',
      ),
      { ...open, root: 403, plain: 403 },
    ],
    [
      'DENY of a range of addresses',
      policy('{ action: DENY, rules: [{ from: [{ source: { ipBlocks: [127.0.0.0/8] } }] }] }'),
      all(403),
    ],
    [
      'ALLOW of another range of addresses',
      policy('{ rules: [{ from: [{ source: { ipBlocks: [10.0.0.0/8] } }] }] }'),
      all(403),
    ],
    [
      'ALLOW of a token that nobody checks',
      policy('{ rules: [{ from: [{ source: { requestPrincipals: ["*"] } }] }] }'),
      all(403),
    ],
    [
      'ALLOW of a host',
      policy('{ rules: [{ to: [{ operation: { hosts: [ECHO.mesh] } }] }] }'),
      open,
    ],
    [
      'DENY beside ALLOW',
      `${policy('{ rules: [{ to: [{ operation: { methods: [GET] } }] }] }')}${policy(
        '{ action: DENY, rules: [{ when: [{ key: "request.headers[x-user]", values: [root] }] }] }',
      ).replace('name: a', 'name: b')}`,
      { ...open, post: 403, root: 403 },
    ],
    ['AUDIT of all', policy('{ action: AUDIT, rules: [{}] }'), open],
    [
      'a DENY that is only tried',
      policy('{ action: DENY, rules: [{}] }', 'annotations: { istio.io/dry-run: "true" }'),
      open,
    ],
    [
      'the DENY of another workload',
      policy('{ selector: { matchLabels: { app: other } }, action: DENY, rules: [{}] }'),
      open,
    ],
    [
      'the DENY of the root namespace',
      policy('{ action: DENY, rules: [{}] }', 'namespace: istio-system'),
      all(403),
    ],
  ])('%s', async (_, text, right) => {
    rig.write('40-access.yaml', text);
    await expect.poll(answers).toEqual(right);
  });

  it('cuts a connection of TCP by what is known of one', async () => {
    const sidecar = rig.read('20-sidecar.yaml');
    rig.write('20-sidecar.yaml', sidecar.replaceAll('protocol: HTTP', 'protocol: TCP'));
    const rows: readonly (readonly [text: string, right: number])[] = [
      ['', 200],
      [policy('{ action: DENY, rules: [{ to: [{ operation: { methods: [POST] } }] }] }'), 0],
      [policy(`{ rules: [{ to: [{ operation: { ports: ["${rig.ports.inbound[0]}"] } }] }] }`), 200],
      [policy('{ rules: [{ to: [{ operation: { methods: [GET] } }] }] }'), 0],
      [policy('{ rules: [{}] }'), 200],
    ];
    for (const [text, right] of rows) {
      rig.write('40-access.yaml', text);
      await expect.poll(async () => (await rig.askPlain()).status, { message: text }).toBe(right);
    }
  });

  it('that was never right closes the workload until it is', async () => {
    const other = (spec: string) => policy(spec).replace('name: a', 'name: other');
    rig.write('50-access.yaml', other('{ rules: [{ form: [] }] }'));
    await expect.poll(async () => (await rig.askPlain()).status).toBe(0);
    rig.write('50-access.yaml', other('{ rules: [{}] }'));
    await expect.poll(async () => (await rig.askPlain()).status).toBe(200);
  });
});
