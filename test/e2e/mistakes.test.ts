import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { certificateAuthority, writeCertificates } from '../../demo/certificates.ts';
import { envoyConfig } from '../../demo/envoy-config.ts';
import { freePorts } from '../support/free-ports.ts';
import { withoutDrain } from '../support/e2e/bad-input-program.ts';
import { program } from '../support/e2e/program.ts';

/** A mistake of a user, and what the first line of the output must contain. */
interface Mistake {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly code: number;
  /** The flag, the variable, the file with its line, or the command. */
  readonly where: string;
  readonly what: string;
  /** The remedy, or the right value. */
  readonly fix: string;
}

let folder: string;
let ports: readonly number[];
let close: () => void;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-agent-mistakes-'));
  ports = await freePorts(4);
  const [adminPort = 0, listenPort = 0, , takenPort = 0] = ports;
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const text = JSON.stringify(envoyConfig({ adminPort, listenPort }), undefined, 2);
  put('good.json', text);
  put('field.json', text.replace('"filter_chains"', '"filter_chain"'));
  put('rule.json', text.replace(`"port_value": ${listenPort}`, '"port_value": 99999'));
  put('json.json', text.slice(0, -20));
  put('enum.yaml', 'static_resources:\n  clusters:\n    - name: a\n      type: STATC\n');
  put('yaml.yaml', 'admin: [\n');
  put('over.yaml', 'admim: {}\n');
  put('config.yaml', 'statusPrt: 15020\n');
  put('mesh.yaml', 'defaultConfig: {concurrency: many}\n');
  put('t.tmpl', '{{ .adminPort }}\n');
  put(
    'taken.json',
    JSON.stringify(envoyConfig({ adminPort, listenPort: takenPort }), undefined, 2),
  );
  const ca = await certificateAuthority();
  const [pair, other, old] = await Promise.all([
    ca.issue(),
    ca.issue(),
    ca.issue({ notBefore: new Date(0), notAfter: new Date(1000) }),
  ]);
  writeCertificates(folder, { ...pair, key: other.key });
  put('tls.json', JSON.stringify(envoyConfig({ adminPort, listenPort, certDir: folder })));
  put('old.pem', old.certChain);
  const server = createServer().listen(takenPort, '127.0.0.1');
  await once(server, 'listening');
  close = () => server.close();
});
afterAll(() => {
  close();
  rmSync(folder, { recursive: true });
});

/**
 * Returns the arguments of a proxy. `@` stands for the folder of the files. `#0` to `#3` stand for
 * ports: those of the admin endpoint, the listener and the status server, and one that is in use.
 */
const proxy = (...flags: readonly string[]) => [
  'proxy',
  'sidecar',
  ...['--configPath', '@/run', '--proxyAdminPort', '#0', '--statusPort', '#2'],
  ...flags,
];
const custom = (name: string) => proxy('--customConfigFile', `@/${name}`);
const certificates = {
  ISTIO_META_TLS_SERVER_CERT_CHAIN: '@/cert-chain.pem',
  ISTIO_META_TLS_SERVER_KEY: '@/key.pem',
};

const mistakes: Readonly<Record<string, Mistake>> = {
  'a command with a slip': {
    args: ['prxy'],
    code: 64,
    where: "'prxy'",
    what: 'unknown command',
    fix: 'Did you mean proxy?',
  },
  'a role that is none': {
    args: ['proxy', 'sidcar'],
    code: 64,
    where: 'role:',
    what: "'sidcar' is not",
    fix: 'sidecar or router',
  },
  'a flag with a slip': {
    args: proxy('--statusPrt', '1'),
    code: 64,
    where: '--statusPrt',
    what: 'no such flag',
    fix: 'did you mean --statusPort?',
  },
  'a word for a number': {
    args: proxy('--concurrency', 'many'),
    code: 64,
    where: '--concurrency',
    what: "'many' is not",
    fix: 'whole number from 0 on',
  },
  'a duration without its unit': {
    args: proxy('--drainDuration', '5'),
    code: 64,
    where: '--drainDuration',
    what: "'5' is not a duration",
    fix: "such as '45s'",
  },
  'two durations that exclude each other': {
    args: proxy('--drainDuration', '60s', '--parentShutdownDuration', '60s'),
    code: 64,
    where: '--parentShutdownDuration',
    what: '60s',
    fix: 'is not more than --drainDuration 60s',
  },
  'an address without a port': {
    args: proxy('--discoveryAddress', 'istiod'),
    code: 64,
    where: '--discoveryAddress',
    what: "'istiod' is not",
    fix: 'host:port',
  },
  'a form of the log': {
    args: proxy('--log_as_json=maybe'),
    code: 64,
    where: '--log_as_json',
    what: "'maybe' is not",
    fix: 'true or false',
  },
  'a flag without its value': {
    args: proxy('--watch'),
    code: 64,
    where: '--watch',
    what: 'argument missing',
    fix: 'see pilot-agent proxy --help',
  },
  'a source that is not a URL': {
    args: proxy('--configUrl', 'ftp://host'),
    code: 64,
    where: '--configUrl',
    what: 'is not',
    fix: 'http or https URL',
  },
  'a source of Kubernetes': {
    args: proxy('--watchKube', 'front'),
    code: 64,
    where: '--watchKube',
    what: "'front' is not",
    fix: "such as 'Secret/default/front'",
  },
  'a source of Consul': {
    args: proxy('--watchConsul', 'front'),
    code: 64,
    where: '--watchConsul',
    what: "'front' is not",
    fix: 'kv/PREFIX or service/NAME',
  },
  'a variable of a wrong kind': {
    args: proxy(),
    env: { PROXY_CONFIG: 'drainDuration: 5' },
    code: 78,
    where: 'PROXY_CONFIG.drainDuration',
    what: '5 is not a duration',
    fix: "such as '45s'",
  },
  'an authority without a port': {
    args: proxy(),
    env: { CA_ADDR: 'istiod' },
    code: 78,
    where: 'CA_ADDR',
    what: "'istiod' is not",
    fix: 'host:port',
  },
  'labels that are not JSON': {
    args: proxy(),
    env: { ISTIO_METAJSON_LABELS: 'app=shop' },
    code: 78,
    where: 'ISTIO_METAJSON_LABELS',
    what: 'is not JSON',
    fix: 'such as \'{"app":"shop"}\'',
  },
  'a configuration that is not there': {
    args: custom('none.json'),
    code: 78,
    where: '--customConfigFile @/none.json',
    what: 'cannot be read',
    fix: 'no such file or directory',
  },
  'a file of flags with a slip': {
    args: proxy('--config', '@/config.yaml'),
    code: 78,
    where: '@/config.yaml: statusPrt',
    what: 'is not known',
    fix: 'did you mean statusPort?',
  },
  'a mesh file with a word for a number': {
    args: proxy('--meshConfig', '@/mesh.yaml'),
    code: 78,
    where: '@/mesh.yaml: defaultConfig.concurrency',
    what: "'many' is not",
    fix: 'whole number from 0 on',
  },
  'a template with an unknown variable': {
    args: proxy('--templateFile', '@/t.tmpl'),
    code: 78,
    where: '@/t.tmpl: line 1',
    what: 'the variable .adminPort',
    fix: 'is not known',
  },
  'a field of Envoy with a slip': {
    args: custom('field.json'),
    code: 78,
    where: '@/field.json:20:9: static_resources.listeners[0]',
    what: "no such field: 'filter_chain'",
    fix: "did you mean 'filter_chains'?",
  },
  'a value of Envoy with a slip': {
    args: custom('enum.yaml'),
    code: 78,
    where: '@/enum.yaml:4:13: static_resources.clusters[0].type',
    what: "unknown enum value: 'STATC'",
    fix: "did you mean 'STATIC'?",
  },
  'a port of Envoy that is too large': {
    args: custom('rule.json'),
    code: 78,
    where: '@/rule.json:17:27: static_resources.listeners[0].address.socket_address.port_value',
    what: 'value must be',
    fix: 'less than or equal to 65535',
  },
  'half a configuration': {
    args: custom('json.json'),
    code: 78,
    where: '@/json.json',
    what: 'ends before',
    fix: 'it is whole',
  },
  'a configuration that is not YAML': {
    args: custom('yaml.yaml'),
    code: 78,
    where: '@/yaml.yaml:2:1',
    what: 'is not YAML',
    fix: 'end of sequence flow not found',
  },
  'an override with a slip': {
    args: custom('good.json'),
    env: { ISTIO_BOOTSTRAP_OVERRIDE: '@/over.yaml' },
    code: 78,
    where: 'ISTIO_BOOTSTRAP_OVERRIDE @/over.yaml:1:1',
    what: "no such field: 'admim'",
    fix: "did you mean 'admin'?",
  },
  'a key of another certificate': {
    args: custom('tls.json'),
    env: certificates,
    code: 78,
    where: '@/cert-chain.pem, @/key.pem',
    what: 'the key does not match the certificate (subject ',
    fix: 'both have to be of one pair',
  },
  'a certificate that has expired': {
    args: custom('tls.json'),
    env: { ...certificates, ISTIO_META_TLS_SERVER_CERT_CHAIN: '@/old.pem' },
    code: 78,
    where: '@/old.pem',
    what: 'the certificate',
    fix: 'has expired at Jan 1 00:00:01 1970 GMT: issue a new one',
  },
  'a status port that is taken': {
    args: [
      'proxy',
      'sidecar',
      '--configPath',
      '@/run',
      '--customConfigFile',
      '@/good.json',
      '--statusPort',
      '#3',
    ],
    code: 69,
    where: '--statusPort #3',
    what: 'is in use by process ',
    fix: 'end who has it, or change --statusPort',
  },
  'a port of a listener that is taken': {
    args: custom('taken.json'),
    code: 69,
    where: '127.0.0.1:#3',
    what: 'is in use by process ',
    fix: 'end who has it, or change the port in @/taken.json',
  },
  'one port for two': {
    args: proxy('--statusPort', '#0'),
    code: 78,
    where: 'statusPort: #0',
    what: 'is the port of proxyAdminPort',
    fix: 'give one of them another',
  },
  'an Envoy that is not there': {
    args: proxy('--binaryPath', '@/envoy'),
    code: 69,
    where: '--binaryPath @/envoy',
    what: 'does not exist',
    fix: 'name another Envoy, or leave it out',
  },
  'a log that cannot be written': {
    args: proxy('--log_target', '@/none/log'),
    code: 78,
    where: '--log_target: @/none/log',
    what: 'cannot be written',
    fix: 'no such file or directory',
  },
  'a folder that cannot be': {
    args: ['proxy', 'sidecar', '--configPath', '@/good.json/run'],
    code: 78,
    where: '--configPath @/good.json/run',
    what: 'cannot be written',
    fix: 'not a directory',
  },
  'a question without its path': {
    args: ['request', 'GET'],
    code: 64,
    where: "'path'",
    what: 'missing',
    fix: 'see pilot-agent request --help',
  },
  'a question where no agent is': {
    args: ['request', 'GET', 'stats', '--configPath', '@/none'],
    code: 69,
    where: "Envoy's admin endpoint",
    what: 'does not answer',
    fix: 'start an agent, or name the admin port',
  },
  'secrets where no agent is': {
    args: ['secrets', '--configPath', '@/none'],
    code: 69,
    where: '@/none/SDS',
    what: 'is not there',
    fix: 'name the folder of one by --configPath',
  },
  'a form of output': {
    args: ['config', 'print', '--output', 'xml'],
    code: 64,
    where: '--output',
    what: "'xml' is invalid",
    fix: 'Allowed choices are table, json, yaml',
  },
};

it.each(Object.entries(mistakes))(
  '%s: the first line says what, where, and what to do',
  (_what, { args, env = {}, code, where, what, fix }) => {
    const here = (text: string) =>
      text
        .replaceAll('@', folder)
        .replace(/#(\d)/g, (_, index: string) => String(ports[Number(index)]));
    const [file, ...main] = program;
    const givenEnv = Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, here(value)]),
    );
    const pod = {
      POD_NAME: 'pod',
      POD_NAMESPACE: 'ns',
      INSTANCE_IP: '10.1.2.3',
      NO_COLOR: '1',
      ...withoutDrain,
    };
    const ended = spawnSync(file, [...main, ...args.map(here)], {
      env: { ...process.env, ...pod, ...givenEnv },
      encoding: 'utf8',
      timeout: 60_000,
    });
    const [line = ''] = ended.stderr.split('\n');
    expect({ line, code: ended.status }).toMatchObject({ code });
    for (const part of [where, what, fix]) expect(line).toContain(here(part));
    expect(line).toMatch(
      new RegExp(`^pilot-agent: .* \\(docs/troubleshooting\\.md#exit-${code}\\)$`),
    );
    expect(line).not.toMatch(/\bat .*:\d+:\d+\)|undefined|\[object/);
  },
);
