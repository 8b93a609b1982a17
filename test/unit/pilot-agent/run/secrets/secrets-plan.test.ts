import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { secretsPlan } from '../../../../../src/pilot-agent/run/secrets/secrets-plan.ts';
import { environment } from '../../../../../src/pilot-agent/config/environment.ts';
import type { GivenFlags } from '../../../../../src/pilot-agent/config/flag-layer.ts';
import { resolveConfig } from '../../../../../src/pilot-agent/config/resolve-config.ts';

const before = process.cwd();
let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'secrets-plan-')));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

const put = (path: string, text = 'x') => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const token = () => put('var/run/secrets/tokens/istio-token');
const pair = (directory: string) =>
  ['cert-chain.pem', 'key.pem'].forEach((name) => put(join(directory, name)));

interface Given {
  readonly flags?: GivenFlags;
  readonly env?: NodeJS.ProcessEnv;
}
function plan({ flags = {}, env = {} }: Given = {}) {
  const layers = {
    mesh: undefined,
    proxyConfig: undefined,
    annotation: undefined,
    annotations: {},
    warnings: [],
  };
  const resolved = resolveConfig({
    given: { configPath: folder, ...flags },
    leftover: [],
    surroundings: environment(env),
    addresses: [],
    layers,
  });
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.problems));
  const planned = secretsPlan(resolved.config);
  return { ...planned, warnings: [...resolved.warnings, ...planned.warnings] };
}
const custom = (text: string): GivenFlags => {
  put('envoy.json', text);
  return { customConfigFile: join(folder, 'envoy.json') };
};

describe('whether secrets are served, and how a changed file comes to Envoy', () => {
  const cases: readonly (readonly [
    what: string,
    () => Given,
    served: boolean,
    way: 'sds' | 'hot-restart',
  ])[] = [
    ['nothing is said', () => ({}), true, 'hot-restart'],
    ['--rotation sds', () => ({ flags: { rotation: 'sds' } }), true, 'sds'],
    ['CA_ADDR', () => ({ env: { CA_ADDR: 'ca:15012' } }), true, 'sds'],
    ['PROV_CERT', () => ({ env: { PROV_CERT: '/p' } }), true, 'sds'],
    ['a token', () => (token(), {}), true, 'sds'],
    [
      'a token that JWT_POLICY does not name',
      () => (token(), { env: { JWT_POLICY: 'none' } }),
      true,
      'hot-restart',
    ],
    [
      'a token beside mounted files',
      () => (token(), { env: { FILE_MOUNTED_CERTS: 'true' } }),
      true,
      'hot-restart',
    ],
    [
      'PROV_CERT, but --rotation hot-restart',
      () => ({ flags: { rotation: 'hot-restart' }, env: { PROV_CERT: '/p' } }),
      true,
      'hot-restart',
    ],
    [
      'a configuration that names the socket',
      () => ({ flags: custom(`"${folder}/SDS"`) }),
      true,
      'sds',
    ],
    ['one that names another', () => ({ flags: custom('"/var/run/SDS"') }), false, 'hot-restart'],
    [
      'one that reads files, and a token',
      () => (token(), { flags: custom('"/etc/certs/key.pem"') }),
      true,
      'hot-restart',
    ],
    [
      'a template that names the socket',
      () => (put('t.json', `"${folder}/SDS"`), { flags: { templateFile: join(folder, 't.json') } }),
      true,
      'sds',
    ],
    [
      'a template that can not be read',
      () => ({ flags: { templateFile: join(folder, 'missing') } }),
      false,
      'hot-restart',
    ],
  ];
  it.each(cases)('%s', (_, given, served, way) => {
    const { serving, rotation, running, sds } = plan(given());
    expect([serving.kind !== 'off', rotation.way]).toEqual([served, way]);
    expect(sds === undefined).toBe(!served);
    // Envoy is not restarted for a push.
    expect(running.watched.length === 0).toBe(way === 'sds');
  });

  it.each<[what: string, () => Given, atHand: 'at-hand' | 'on-demand']>([
    ['nothing is said', () => ({}), 'on-demand'],
    ['a token, without CA_ADDR', () => (token(), {}), 'on-demand'],
    ['a token and mounted files', () => (token(), pair('etc/certs'), {}), 'at-hand'],
    ['CA_ADDR', () => ({ env: { CA_ADDR: 'ca:15012' } }), 'at-hand'],
    ['OUTPUT_CERTS', () => ({ env: { OUTPUT_CERTS: 'out' } }), 'at-hand'],
    ['--rotation sds', () => ({ flags: { rotation: 'sds' } }), 'at-hand'],
  ])('before Envoy asks they are at hand or not: %s', (_, given, atHand) => {
    expect(plan(given()).serving).toMatchObject({ workload: atHand });
  });

  it('those of a metrics service restart Envoy all the same, for Envoy reads them itself', () => {
    const service = JSON.stringify({
      address: 'm:1',
      tlsSettings: {
        mode: 'MUTUAL',
        clientCertificate: '/m/c',
        privateKey: '/m/k',
        caCertificates: '/m/r',
      },
    });
    const { running } = plan({ flags: { rotation: 'sds', envoyMetricsService: service } });
    expect(running).toMatchObject({
      watched: ['/m/c', '/m/k', '/m/r'],
      awaited: ['/m/c', '/m/k', '/m/r'],
      certificates: [{ chain: '/m/c' }],
    });
  });
});

describe('where the certificate of the workload comes from', () => {
  const files = (directory: string) =>
    ({
      kind: 'files',
      paths: {
        chain: `${directory}/cert-chain.pem`,
        key: `${directory}/key.pem`,
        root: `${directory}/root-cert.pem`,
      },
    }) as const;
  const authority = (address: string) => ({ kind: 'authority', address }) as const;
  const named = (side: string, directory: string) => ({
    [`ISTIO_META_TLS_${side}_CERT_CHAIN`]: `${directory}/cert-chain.pem`,
    [`ISTIO_META_TLS_${side}_KEY`]: `${directory}/key.pem`,
    [`ISTIO_META_TLS_${side}_ROOT_CERT`]: `${directory}/root-cert.pem`,
  });
  const cases: readonly (readonly [
    what: string,
    () => Given,
    ReturnType<typeof plan>['workload'],
  ])[] = [
    ['PROV_CERT', () => ({ env: { PROV_CERT: '/p', ...named('SERVER', '/s') } }), files('/p')],
    [
      'the files of the server',
      () => ({ env: { ...named('SERVER', '/s'), ...named('CLIENT', '/c') } }),
      files('/s'),
    ],
    ['those of the client', () => ({ env: named('CLIENT', '/c') }), files('/c')],
    ['./etc/certs', () => ({}), files('etc/certs')],
    ['CA_ADDR', () => ({ env: { CA_ADDR: 'ca:1' } }), authority('ca:1')],
    [
      'CA_ADDR, which is shown PROV_CERT',
      () => ({ env: { CA_ADDR: 'ca:1', PROV_CERT: '/p' } }),
      authority('ca:1'),
    ],
    [
      'with a token the control plane',
      () => (token(), { flags: { discoveryAddress: 'istiod:15012' } }),
      authority('istiod:15012'),
    ],
    [
      'files that are mounted, for they win over an authority',
      () => (pair('etc/certs'), { env: { CA_ADDR: 'ca:1' } }),
      files('etc/certs'),
    ],
    [
      'files that a variable names, though they are not there yet',
      () => ({ env: { CA_ADDR: 'ca:1', ...named('CLIENT', '/c') } }),
      files('/c'),
    ],
    [
      'but not those that the agent has written',
      () => (
        pair('out'),
        {
          env: {
            CA_ADDR: 'ca:1',
            OUTPUT_CERTS: join(folder, 'out'),
            ...named('CLIENT', join(folder, 'out')),
          },
        }
      ),
      authority('ca:1'),
    ],
    [
      'with FILE_MOUNTED_CERTS files',
      () => ({ env: { CA_ADDR: 'ca:1', FILE_MOUNTED_CERTS: 'true' } }),
      files('etc/certs'),
    ],
  ];
  it.each(cases)('%s', (_, given, workload) => {
    expect(plan(given()).workload).toEqual(workload);
  });

  describe('the workload socket', () => {
    const usual = './var/run/secrets/workload-spiffe-uds/socket';
    const socket = (path: string) => ({ kind: 'socket', path }) as const;
    const servers: Server[] = [];
    const listen = async (path: string) => {
      mkdirSync(join(path, '..'), { recursive: true });
      const server = createServer().listen(path);
      servers.push(server);
      await once(server, 'listening');
    };
    afterEach(() => servers.splice(0).forEach((server) => server.close()));

    it('wins over an authority, a token and files in the usual place, if it is there', async () => {
      await listen(usual);
      token();
      pair('etc/certs');
      const { workload, serving, rotation } = plan({ env: { CA_ADDR: 'ca:1' } });
      expect(workload).toEqual(socket(usual));
      expect(serving).toEqual({ kind: 'pushed', workload: 'at-hand' });
      expect(rotation.way).toBe('sds');
    });

    it('is not used if it is not there, or is not a socket, which is a warning', () => {
      const env = { CA_ADDR: 'ca:1' };
      expect(plan({ env })).toMatchObject({ workload: authority('ca:1'), warnings: [] });
      put(usual);
      expect(plan({ env })).toMatchObject({
        workload: authority('ca:1'),
        warnings: [`${usual} is not used: it is not a socket`],
      });
    });

    it('is not used if the system cannot tell what it is, which is a warning', () => {
      mkdirSync(join(usual, '..'), { recursive: true });
      symlinkSync('socket', usual);
      expect(plan({ env: { CA_ADDR: 'ca:1' } })).toMatchObject({
        workload: authority('ca:1'),
        warnings: [expect.stringMatching(`^${usual} is not used: ELOOP`)],
      });
    });

    it('is awaited under a name that a variable gives it', () => {
      const env = { CA_ADDR: 'ca:1', WORKLOAD_IDENTITY_SOCKET_FILE: 'agent.sock' };
      expect(plan({ env }).workload).toEqual(
        socket('./var/run/secrets/workload-spiffe-uds/agent.sock'),
      );
      const usualName = { CA_ADDR: 'ca:1', WORKLOAD_IDENTITY_SOCKET_FILE: 'socket' };
      expect(plan({ env: usualName }).workload).toEqual(authority('ca:1'));
    });

    it('has no folder in its name, which is a warning', async () => {
      await listen(usual);
      const env = { WORKLOAD_IDENTITY_SOCKET_FILE: '../other' };
      const { workload, warnings } = plan({ env });
      expect(workload).toEqual(socket(usual));
      expect(warnings).toEqual([
        expect.stringContaining("WORKLOAD_IDENTITY_SOCKET_FILE: '../other' is not"),
      ]);
    });

    it('comes after FILE_MOUNTED_CERTS, and after files that a variable names', async () => {
      await listen(usual);
      expect(plan({ env: { FILE_MOUNTED_CERTS: 'true' } }).workload.kind).toBe('files');
      expect(plan({ env: named('CLIENT', '/c') }).workload).toEqual(files('/c'));
    });

    it('leaves the connection to the control plane to the token, if there is one', async () => {
      await listen(usual);
      token();
      put('var/run/secrets/istio/root-cert.pem');
      const { token: file, controlPlaneRoot } = plan();
      expect([file, controlPlaneRoot]).toEqual([
        './var/run/secrets/tokens/istio-token',
        './var/run/secrets/istio/root-cert.pem',
      ]);
    });
  });
});

describe('an agent of the node', () => {
  const socket = '/tmp/uds.log';
  it.each<[controlPlaneBootstrap: 'true' | 'false', address: string, hasToken: boolean]>([
    ['true', '', false],
    ['true', socket, true],
    ['true', `unix:${socket}`, true],
    ['true', '', true],
    ['true', socket, false],
    ['false', socket, true],
    ['false', socket, false],
  ])(
    'is never asked, whatever 1.5 would take for one: bootstrap %s, address "%s", token %s',
    (controlPlaneBootstrap, address, hasToken) => {
      if (hasToken) token();
      const without = plan({ flags: { controlPlaneBootstrap } });
      const { warnings, ...withSocket } = plan({
        flags: { controlPlaneBootstrap },
        env: { SDS_ENABLED: 'true', SDS_UDS_PATH: address },
      });
      expect({ ...withSocket, warnings: without.warnings }).toEqual(without);
      expect(warnings.filter((warning) => warning.startsWith('SDS_'))).toHaveLength(
        address === '' ? 1 : 2,
      );
    },
  );
});

describe('what is odd', () => {
  it.each([
    ['a bad duration', { SECRET_TTL: 'long' }, "SECRET_TTL: 'long' is not"],
    [
      'a bad share',
      { SECRET_GRACE_PERIOD_RATIO: '1.5' },
      "SECRET_GRACE_PERIOD_RATIO: '1.5' is not",
    ],
    [
      'a bad algorithm',
      { ECC_SIGNATURE_ALGORITHM: 'RSA' },
      "ECC_SIGNATURE_ALGORITHM: 'RSA' is not",
    ],
    ['an authority without TLS', { CA_ADDR: 'ca:15010' }, 'ca:15010 is asked without TLS'],
  ])('is warned of: %s', (_, env, warning) => {
    expect(plan({ env }).warnings).toEqual([expect.stringContaining(warning)]);
  });

  it('keeps the defaults', () => {
    const { config } = plan({
      env: {
        SECRET_TTL: 'long',
        SECRET_GRACE_PERIOD_RATIO: '1.5',
        INITIAL_BACKOFF_MSEC: 'x',
        PKCS8_KEY: 'maybe',
      },
    });
    expect(config).toMatchObject({
      ttl: 86_400_000,
      graceRatio: 0.5,
      initialBackOff: 0,
      pkcs8: false,
      trustDomain: 'cluster.local',
    });
  });

  it('TRUST_DOMAIN and PKCS8_KEY are heard (1.6 loses them), and --trust-domain stands in', () => {
    expect(
      plan({ env: { TRUST_DOMAIN: 'a', PKCS8_KEY: 'true' }, flags: { 'trust-domain': 'b' } })
        .config,
    ).toMatchObject({ trustDomain: 'a', pkcs8: true });
    expect(plan({ flags: { 'trust-domain': 'b' } }).config.trustDomain).toBe('b');
  });
});
