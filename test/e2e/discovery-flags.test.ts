import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateAuthority } from '../../demo/certificates.ts';
import { discoveryVariables } from '../../scripts/docs/discovery.ts';
import { caDefaults } from '../../src/pilot-discovery/run/ca-config.ts';
import { tokenDefaults } from '../../src/pilot-discovery/run/token-config.ts';
import type { discoveryFlags } from '../../src/pilot-discovery/run/discovery-flags.ts';
import { type DiscoveryFlagName } from '../../src/pilot-discovery/run/discovery-flags.ts';
import { DiscoveryRequestSchema } from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';
import { ask } from '../support/ask.ts';
import { connects } from '../support/connects.ts';
import { eventually } from '../support/eventually.ts';
import { fakeKube, type KubeDocument, serveFakeKube } from '../support/fake-kube.ts';
import { freePorts } from '../support/free-ports.ts';
import { acceptingClient, wholeClient } from '../support/proxy-client.ts';
import { askSecurely } from '../support/secure-client.ts';
import { uri, type WorkloadAuthority, workloadAuthority } from '../support/workload-authority.ts';

/** A control plane that runs, with the flags and variables of some rows. */
interface Program {
  readonly child: { kill(signal: NodeJS.Signals): boolean };
  readonly ended: Promise<unknown>;
  readonly folder: string;
  readonly ports: Readonly<
    Record<'grpcAddr' | 'secureGRPCAddr' | 'httpAddr' | 'monitoringAddr', number>
  >;
}

type ProgramName = 'one' | 'two' | 'three';

type IsSeen = () => boolean | Promise<boolean>;

interface Row {
  /**
   * The program that receives the flag or variable; `null` if each program receives it, most with
   * values of their own.
   */
  readonly program: ProgramName | null;
  readonly value: string;
  /**
   * Starts to observe a program. The returned function reports whether the value has its effect by
   * then.
   */
  readonly observe: (program: Program) => IsSeen | Promise<IsSeen>;
}

type ServedFlag = {
  [Name in DiscoveryFlagName]: (typeof discoveryFlags)[Name] extends { ignored: true }
    ? never
    : Name;
}[DiscoveryFlagName];

const id = 'sidecar~127.0.0.1~app.default~default.svc.cluster.local';
const ends: (() => unknown)[] = [];

const entry = (name: string, more = '') => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name} }
spec:
  hosts: [${name}.default.svc.my.domain]
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1 }${more}]
`;
const rule = `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: a, namespace: default }
spec: { host: a, trafficPolicy: { connectionPool: { tcp: { connectTimeout: 4.321s } } } }
`;
/** The Kubernetes APIs that the programs read, by the name of their kubeconfig. */
const apis = ['of-flag', 'of-variable', 'of-others'] as const;
const kubeconfigs: Readonly<Partial<Record<ProgramName, (typeof apis)[number]>>> = {
  one: 'of-variable',
  two: 'of-others',
};
const service = (name: string): KubeDocument => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'kube', name },
  spec: { ports: [{ port: 80 }] },
});
const meshMap = (namespace: string, trustDomain: string): KubeDocument => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name: 'istio' },
  data: { mesh: `trustDomain: ${trustDomain}` },
});
const has =
  (path: string, text: string): Row['observe'] =>
  ({ ports }) =>
  async () =>
    (await ask(ports.httpAddr, path)).body.includes(text);
type ConsulFlags = Readonly<Record<'consulserverURL' | 'consulCAFile' | 'consulTokenFile', string>>;

/** Starts a Consul over TLS, with one service whose metadata contains the token of the request. */
async function startFakeConsul(root: string): Promise<ConsulFlags> {
  const authority = await certificateAuthority();
  const { key, certChain } = await authority.issue();
  const [caFile, tokenFile] = [join(root, 'consul-ca.pem'), join(root, 'consul-token')];
  writeFileSync(caFile, authority.rootCert);
  writeFileSync(tokenFile, 'of-flag');
  const server = createServer({ key, cert: certChain }, ({ url = '', headers }, response) => {
    if (url.includes('index=')) return; // a blocking query gets no answer
    const node = { Node: 'n', Address: '10.9.9.9' };
    const meta = { token: headers['x-consul-token'] };
    const instance = { Node: node, Service: { ID: 'web', Port: 80, Meta: meta }, Checks: [] };
    const body = url.startsWith('/v1/catalog/services') ? { web: [] } : [instance];
    response.writeHead(200, { 'x-consul-index': 5 }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    consulserverURL: `https://127.0.0.1:${port}`,
    consulCAFile: caFile,
    consulTokenFile: tokenFile,
  };
}

type SecureFlags = Readonly<Record<'tlsCertFile' | 'tlsKeyFile' | 'caCertFile', string>>;

let workloads: WorkloadAuthority;

/** Writes the certificate of the secure port, its key, and the root of its callers. */
async function writeSecureFiles(root: string): Promise<SecureFlags> {
  workloads = await workloadAuthority();
  const { chain, key } = await workloads.issue({ names: [{ type: 'dns', value: 'istiod.test' }] });
  const texts = { tlsCertFile: chain, tlsKeyFile: key, caCertFile: workloads.root };
  const paths = Object.entries(texts).map(([flag, text]) => {
    writeFileSync(join(root, flag), text);
    return [flag, join(root, flag)] as const;
  });
  return Object.fromEntries(paths) as Record<keyof SecureFlags, string>;
}

/** Observes whether the secure port answers a caller of the namespace `default` with this node. */
const answers =
  (nodeId: string): Row['observe'] =>
  async ({ ports: { secureGRPCAddr: port } }) => {
    const pair = await workloads.issue({ names: [uri('spiffe://cluster.local/ns/default/sa/a')] });
    const node = { id: nodeId, metadata: {} };
    return async () =>
      (await askSecurely({ port, root: workloads.root, pair, nodes: [node] })).status ===
      'ANSWERED';
  };

const write = ({ folder }: Program, name: string, text: string) =>
  writeFileSync(join(folder, 'config', name), text);

async function debug<T>({ ports }: Program, path: string): Promise<T> {
  return JSON.parse((await ask(ports.httpAddr, path)).body) as T;
}

/** Resolves to the length of the window of the newest snapshot of a class, in ms. */
async function windowOf(program: Program, what: string): Promise<number | undefined> {
  const traces = await debug<readonly { readonly class: string; readonly windowMs: number }[]>(
    program,
    '/debug/trace',
  );
  return traces.filter((trace) => trace.class === what).at(-1)?.windowMs;
}

/** Writes a service at each look, and observes whether the length of its window is right. */
const windowIs = (name: string, isRight: (ms: number) => boolean): Row['observe'] => {
  return (program) => {
    // Each look writes another service, because a busy machine may lengthen one window.
    let number = 0;
    return async () => {
      write(program, `${name}.yaml`, entry(`${name}-${number++ % 3}`));
      await sleep(1_100); // no change comes meanwhile
      return isRight((await windowOf(program, 'config')) ?? NaN);
    };
  };
};

function http2(program: Program, initialWindowSize = 65_535) {
  const session = connectHttp2(`http://127.0.0.1:${program.ports.grpcAddr}`, {
    settings: { initialWindowSize },
  }).on('error', () => undefined);
  ends.push(() => session.destroy());
  return session;
}

const request = Buffer.from(
  toBinary(
    DiscoveryRequestSchema,
    create(DiscoveryRequestSchema, { node: { id }, typeUrl: typeUrls.cluster }),
  ),
);
const path = '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources';

/** Connects `count` proxies that subscribe to clusters and read nothing. */
async function silentProxies(program: Program, count: number): Promise<void> {
  const length = Buffer.alloc(5);
  length.writeUInt32BE(request.length, 1);
  for (let left = count; left > 0; left -= 100) {
    const session = http2(program, 0);
    for (let number = 0; number < Math.min(left, 100); number += 1) {
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      stream.on('error', () => undefined).write(Buffer.concat([length, request]));
    }
  }
  const connected = async () =>
    (await debug<{ readonly totalClients: number }>(program, '/debug/connections')).totalClients >=
    count;
  await eventually(connected);
}

/** Sends a request with a name of `size` bytes, and observes whether its stream ends. */
const refuses = (size: number): Row['observe'] => {
  return (program) => {
    const client = wholeClient(program.ports.grpcAddr);
    ends.push(() => client.close());
    client.call.write(
      create(DiscoveryRequestSchema, {
        node: { id },
        typeUrl: typeUrls.endpoint,
        resourceNames: ['x'.repeat(size)],
      }),
    );
    return () => client.statuses.length > 0;
  };
};

const securely: Row = { program: 'one', value: 'SECURE', observe: answers(id) };

const listens = (name: 'grpcAddr' | 'httpAddr' | 'monitoringAddr'): Row => ({
  program: null,
  value: '',
  observe: (program) => () => connects(program.ports[name]),
});

/** The rows of the flags. Rows that end programs, or remove resources, come last. */
const flags: Readonly<Record<ServedFlag, Row>> = {
  configDir: {
    program: null,
    value: '',
    observe: (program) => async () =>
      (await ask(program.ports.httpAddr, '/debug/configz')).body.includes(
        `${program.folder}/config/a.yaml`,
      ),
  },
  registries: {
    program: null,
    value: 'Kubernetes',
    observe: has('/debug/configz', '"kind":"Service"'),
  },
  kubeconfig: {
    program: 'three',
    value: 'of-flag',
    observe: has('/debug/configz', 'of-flag'),
  },
  consulserverURL: {
    program: 'three',
    value: 'CONSUL',
    observe: has('/debug/configz', 'ConsulService'),
  },
  consulDatacenters: {
    program: 'three',
    value: 'east,west',
    observe: has('/debug/configz', '"name":"web.west"'),
  },
  consulCAFile: {
    program: 'three',
    value: 'CONSUL',
    observe: has('/debug/configz', 'ConsulInstance'),
  },
  consulTokenFile: {
    program: 'three',
    value: 'CONSUL',
    observe: has('/debug/configz', '"token":"of-flag"'),
  },
  meshConfig: {
    program: 'one',
    value: 'MESH',
    observe: (program) => async () =>
      (await ask(program.ports.httpAddr, '/debug/mesh')).body.includes('registry-only'),
  },
  networksConfig: {
    program: 'one',
    value: 'NETWORKS',
    observe: has('/debug/networkz', '"address":"192.0.2.1"'),
  },
  domain: {
    program: 'one',
    value: 'my.domain',
    observe: (program) => {
      const client = acceptingClient(program.ports.grpcAddr, id, typeUrls.cluster);
      ends.push(() => client.close());
      return async () =>
        (await ask(program.ports.httpAddr, '/debug/config_dump?proxyID=app.default')).body.includes(
          '4.321',
        );
    },
  },
  namespace: {
    program: 'one',
    value: 'shop',
    observe: (program) => async () =>
      (await ask(program.ports.httpAddr, '/debug/configz')).body.includes('"namespace":"shop"'),
  },
  grpcAddr: listens('grpcAddr'),
  secureGRPCAddr: securely,
  tlsCertFile: securely,
  tlsKeyFile: securely,
  caCertFile: securely,
  httpAddr: listens('httpAddr'),
  monitoringAddr: listens('monitoringAddr'),
  configReaders: {
    program: 'one',
    value: 'plaintext',
    observe: (program) => {
      const client = acceptingClient(
        program.ports.grpcAddr,
        id,
        'networking.istio.io/v1/ServiceEntry',
        { GENERATOR: 'api' },
      );
      ends.push(() => client.close());
      return () => client.answers.length > 0;
    },
  },
  keepaliveInterval: {
    program: 'two',
    value: '200ms',
    observe: (program) => {
      let isAsked = false;
      http2(program).on('ping', () => (isAsked = true));
      return () => isAsked;
    },
  },
  keepaliveTimeout: {
    program: 'two',
    value: '2s',
    observe: (program) => {
      let isClosed = false;
      const socket = connect(program.ports.grpcAddr, '127.0.0.1').on('error', () => undefined);
      socket.on('close', () => (isClosed = true)).resume();
      socket.write(
        Buffer.concat([
          Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
          Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
        ]),
      );
      ends.push(() => socket.destroy());
      return () => isClosed;
    },
  },
  keepaliveMaxServerConnectionAge: {
    program: 'one',
    value: '2s',
    observe: (program) => {
      let isOver = false;
      http2(program).on('goaway', () => (isOver = true));
      return () => isOver;
    },
  },
  largestRequest: { program: 'three', value: '3000', observe: refuses(4_000) },
  massRemovalHold: {
    program: 'two',
    value: '0s',
    observe: (program) => {
      renameSync(join(program.folder, 'config/all'), join(program.folder, 'gone'));
      return async () =>
        !(await ask(program.ports.httpAddr, '/debug/configz')).body.includes('s-11.yaml');
    },
  },
  shutdownDuration: {
    program: 'two',
    value: '0s',
    observe: async (program) => {
      await silentProxies(program, 600); // without the flag, the end takes 10 ms for each
      const toldAt = performance.now();
      let isAtOnce = false;
      void program.ended.then(() => (isAtOnce = performance.now() - toldAt < 5_000));
      program.child.kill('SIGTERM');
      return () => isAtOnce;
    },
  },
};

const variables: Readonly<Record<string, Row>> = {
  PILOT_DEBOUNCE_AFTER: {
    program: 'one',
    value: '700ms',
    observe: windowIs('after', (ms) => ms >= 700),
  },
  PILOT_DEBOUNCE_MAX: {
    program: 'two',
    value: '50ms',
    observe: windowIs('max', (ms) => ms >= 50 && ms < 100),
  },
  PILOT_DEBOUNCE: {
    program: 'three',
    value: 'adaptive',
    observe: windowIs('adaptive', (ms) => ms < 40),
  },
  PILOT_ENABLE_EDS_DEBOUNCE: {
    program: 'two',
    value: 'false',
    observe: (program) => {
      let number = 2;
      return async () => {
        // A busy machine may lengthen one window, so each look writes another address.
        write(program, 'a.yaml', entry('a', `, { address: 10.0.0.${number++ % 200} }`));
        return ((await windowOf(program, 'endpoints')) ?? NaN) < 20;
      };
    },
  },
  ISTIO_GPRC_MAXRECVMSGSIZE: { program: 'one', value: '1000', observe: refuses(2_000) },
  PILOT_PUSH_THROTTLE: {
    program: 'three',
    value: '1',
    observe: async (program) => {
      await silentProxies(program, 400); // each takes a place of the throttle for 5 ms
      const waited = async () =>
        /pilot_proxy_queue_time_sum (\S+)/.exec(
          (await ask(program.ports.monitoringAddr, '/metrics')).body,
        )?.[1];
      return async () => Number(await waited()) > 350; // in seconds; 400 × 400 / 2 × 5 ms are 400 s
    },
  },
  PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: {
    program: 'two',
    value: 'false',
    observe: (program) => {
      const router = 'router~127.0.0.1~gateway.default~default.svc.cluster.local';
      const client = acceptingClient(program.ports.grpcAddr, router, typeUrls.cluster);
      ends.push(() => client.close());
      return () =>
        client.answers.some(({ resources }) =>
          resources.some(({ name }) => name.startsWith('outbound|80||a.')),
        );
    },
  },
  BLOCKED_CIDRS_IN_JWKS_URIS: {
    program: 'one',
    value: '10.0.0.0/8',
    observe: (program) => {
      write(
        program,
        'tokens.yaml',
        `
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: tokens, namespace: default }
spec: { jwtRules: [{ issuer: a, jwksUri: 'http://10.1.2.3/keys' }] }
`,
      );
      return async () =>
        (await ask(program.ports.httpAddr, '/debug/flawz')).body.includes('10.1.2.3 is blocked');
    },
  },
  PILOT_ENABLE_XDS_IDENTITY_CHECK: {
    program: 'one',
    value: 'false',
    observe: answers(id.replace('app.default', 'app.other')),
  },
  KUBECONFIG: {
    program: 'one',
    value: 'of-variable',
    observe: has('/debug/configz', 'of-variable'),
  },
  POD_NAMESPACE: {
    program: 'two',
    value: 'mesh',
    observe: has('/debug/mesh', 'of-mesh'),
  },
  POD_NAME: {
    program: 'one',
    value: 'istiod-7',
    observe: (program) => {
      const client = acceptingClient(program.ports.grpcAddr, id, typeUrls.cluster);
      ends.push(() => client.close());
      return () =>
        client.answers.some(({ controlPlane }) => controlPlane?.identifier.includes('"istiod-7"'));
    },
  },
};

const rows = Object.entries({ ...variables, ...flags });
const names: readonly ProgramName[] = ['one', 'two', 'three'];

describe('each flag and variable of pilot-discovery', () => {
  const programs = new Map<ProgramName, Program>();
  let root: string;

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'pilot-discovery-'));
    const all = await freePorts(4 * names.length);
    for (const name of apis) {
      const kube = fakeKube();
      kube.put(service(name));
      kube.put(meshMap('mesh', 'of-mesh'));
      kube.put(meshMap('istio-system', 'of-istio'));
      const server = await serveFakeKube(kube, join(root, name));
      ends.push(() => server.close());
    }
    const consul = await startFakeConsul(root);
    const secure: Partial<SecureFlags> = await writeSecureFiles(root);
    for (const [index, name] of names.entries()) {
      const folder = join(root, name);
      mkdirSync(join(folder, 'config/all'), { recursive: true });
      writeFileSync(join(folder, 'mesh'), 'outboundTrafficPolicy: { mode: REGISTRY_ONLY }\n');
      writeFileSync(
        join(folder, 'networks'),
        'networks: { one: { gateways: [{ address: 192.0.2.1, port: 15443 }] } }\n',
      );
      const [grpcAddr = 0, httpAddr = 0, monitoringAddr = 0, secureGRPCAddr = 0] = all.slice(
        4 * index,
      );
      const open = { grpcAddr, httpAddr, monitoringAddr };
      const ports = { ...open, secureGRPCAddr };
      const given = (kind: Readonly<Record<string, Row>>) =>
        Object.entries(kind).filter(([, { program }]) => program === name);
      const flagArguments = given(flags).flatMap(([flag, { value }]) => [
        `--${flag}`,
        value === 'MESH' || value === 'NETWORKS'
          ? join(folder, value.toLowerCase())
          : value === 'CONSUL'
            ? consul[flag as keyof ConsulFlags]
            : value === 'SECURE'
              ? (secure[flag as keyof SecureFlags] ?? `127.0.0.1:${secureGRPCAddr}`)
              : flag === 'kubeconfig'
                ? join(root, value)
                : value,
      ]);
      const isSecureGiven = given(flags).some(([flag]) => flag === 'secureGRPCAddr');
      const listen = Object.entries(isSecureGiven ? open : ports).flatMap(([flag, port]) => [
        `--${flag}`,
        `127.0.0.1:${port}`,
      ]);
      const kubeconfig = kubeconfigs[name];
      const env = {
        ...Object.fromEntries(given(variables).map(([variable, { value }]) => [variable, value])),
        ...(kubeconfig !== undefined && { KUBECONFIG: join(root, kubeconfig) }),
      };
      const args = [
        resolve('dist/pilot-discovery.cjs'),
        'discovery',
        '--configDir',
        join(folder, 'config'),
        '--registries',
        name === 'three' ? `${flags.registries.value},Consul` : flags.registries.value,
        ...listen,
        ...flagArguments,
      ];
      const program = { folder, ports } as const;
      const files = { 'a.yaml': entry('a'), 'rule.yaml': rule };
      for (const [file, text] of Object.entries(files))
        writeFileSync(join(folder, 'config', file), text);
      for (let number = 0; number < 12; number += 1)
        writeFileSync(join(folder, `config/all/s-${number}.yaml`), entry(`s-${number}`));
      const child = execa(process.execPath, args, {
        env,
        buffer: false,
        reject: false,
        stdout: 'ignore',
        stderr: 'inherit',
      });
      programs.set(name, { ...program, child, ended: child });
    }
    for (const { ports } of programs.values())
      await eventually(async () => (await ask(ports.httpAddr, '/ready')).status === 200);
  });
  afterAll(async () => {
    for (const end of ends.splice(0)) end();
    for (const { child } of programs.values()) child.kill('SIGKILL');
    await Promise.all([...programs.values()].map(({ ended }) => ended));
    rmSync(root, { recursive: true });
  });

  const started = (name: ProgramName): Program => {
    const program = programs.get(name);
    if (program === undefined) throw new Error(`${name} does not run`);
    return program;
  };

  it('has a row', () => {
    // Other files test the variables of the certificate authority (discovery-ca.test.ts), of tokens
    // (discovery-jwt.test.ts) and of status (discovery-status-kube.test.ts).
    const ofStatus = ['PILOT_ENABLE_ANALYSIS', 'PILOT_ANALYSIS_INTERVAL'];
    const others = [...Object.keys(caDefaults), ...Object.keys(tokenDefaults), ...ofStatus];
    expect([...Object.keys(variables), ...others].sort()).toEqual(
      discoveryVariables.map(({ name }) => name).sort(),
    );
  });

  it.each(rows)('%s changes what it says', async (_, { program, observe }) => {
    const having = names.filter((name) => program === null || name === program);
    const others = names.filter((name) => !having.includes(name));
    const [expected, unexpected] = await Promise.all([
      Promise.all(having.map(async (name) => observe(started(name)))),
      Promise.all(others.slice(-1).map(async (name) => observe(started(name)))),
    ]);
    for (const isSeen of expected) await expect.poll(isSeen).toBe(true);
    for (const isSeen of unexpected) expect(await isSeen()).toBe(false);
  });
});
