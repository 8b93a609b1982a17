import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { caFiles } from '../src/pilot-agent/config/certificate-files.ts';
import { flags } from '../src/pilot-agent/config/flags.ts';
import { discoveryFlags } from '../src/pilot-discovery/run/discovery-flags.ts';
import { annotationsFile } from '../src/pilot-agent/run/start/effective-config.ts';
import { exitCodes } from '../src/shared/program/exit.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const pagesIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const pages = ['docs', join('docs', 'guide'), join('docs', 'explain')]
  .flatMap(pagesIn)
  .filter((page) => page !== join('docs', 'benchmarks.md'));
const source = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('proto'))
  .map((name) => read(join('src', name)))
  .join('\n');

/** Returns the blocks of a language. */
const blocks = (page: string, language: string) =>
  [...read(page).matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, text = '']) => text,
  );

const guide = (name: string) => join('docs', 'guide', `${name}.md`);

/**
 * Resolves to the warnings of `pilot-agent config print` about a command line. Rejects if it exits
 * with another code than 0.
 */
async function objections(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const surroundings = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env };
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'src/pilot-agent/cli/main.ts', 'config', 'print', ...args],
    { env: surroundings },
  );
  return stderr;
}

describe.each(pages)('%s', (page) => {
  const text = read(page);

  it('names paths of the status port that exist', () => {
    const [routes, guard] = ['routes', 'probe/readiness'].map((name) =>
      read(`src/pilot-agent/status/${name}.ts`),
    );
    const named = [
      ...text.matchAll(
        /(?:localhost|127\.0\.0\.1):15020(\/[a-z][\w/]*)|["`](?:POST |GET )?(\/(?:healthz|debug|app-\w+|drain|restart|logging|quitquitquit|stats|version)[\w/]*)/g,
      ),
    ];
    const paths = named.map(([, requested, mentioned]) =>
      (requested ?? mentioned ?? '').replace(/^\/app-.*/, '/app-health/'),
    );
    expect(
      paths.filter(
        (path) => path !== '/debug' && !`${String(routes)}${String(guard)}`.includes(`'${path}'`),
      ),
    ).toEqual([]);
  });

  it('names ports that are those of the program', () => {
    const usual = [
      flags.proxyAdminPort.default,
      flags.statusPort.default,
      '15010',
      '15012',
      '15021',
      '15090',
      '15443',
      discoveryFlags.monitoringAddr.default.slice(1),
    ];
    expect(
      ['15021', '15090'].filter(
        (port) => !source.includes(port.replace(/(\d{2})(\d{3})/, '$1_$2')),
      ),
    ).toEqual([]);
    expect(
      [...text.matchAll(/\b15\d{3}\b/g)]
        .map(([port]) => port)
        .filter((port) => !usual.includes(port)),
    ).toEqual([]);
  });

  it('has only blocks that are checked or shown', () => {
    const languages = [...text.matchAll(/^```(\w*)\n.*?^```$/gms)].map(([, language]) => language);
    expect(
      languages.filter(
        (language) =>
          !['sh', 'text', 'console', 'yaml', 'ini', 'dockerfile', 'ts'].includes(language ?? ''),
      ),
    ).toEqual([]);
  });

  it('has no line that is wider than 120 columns', () => {
    expect(text.split('\n').filter((line) => line.length > 120)).toEqual([]);
  });
});

it('the index has each page', () => {
  const index = read(join('docs', 'README.md'));
  const missing = pages.filter(
    (page) => !page.endsWith('README.md') && !index.includes(`](${page.replace('docs/', '')}`),
  );
  expect(missing).toEqual([]);
});

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: number };
}

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: readonly Variable[];
  readonly ports: readonly { readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly (Container & {
    readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: string[] } } };
  })[];
  readonly volumes: readonly { readonly name: string }[];
}

describe('the pod', () => {
  const manifests = blocks(guide('kubernetes'), 'yaml').flatMap((text) => parseAllDocuments(text));
  const { spec } = manifests[0]?.toJS() as { readonly spec: Pod };
  const proxy = spec.containers.find(({ name }) => name === 'istio-proxy') as Container;
  const fields: Readonly<Record<string, string>> = {
    'metadata.name': 'web',
    'metadata.namespace': 'shop',
    'status.podIP': '10.0.0.7',
    'spec.serviceAccountName': 'web',
  };
  const env = Object.fromEntries(
    proxy.env.map(({ name, value, valueFrom }) => [
      name,
      value ?? fields[valueFrom?.fieldRef.fieldPath ?? ''],
    ]),
  );

  it('parses, as the other manifests do', () => {
    const others = [
      ...manifests,
      ...blocks(guide('certificates'), 'yaml').flatMap((text) => parseAllDocuments(text)),
    ];
    expect(others.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('has flags and variables that the agent takes without a warning', async () => {
    const [command, ...args] = proxy.args.map((arg) =>
      arg.replace(/\$\((\w+)\)/g, (_, name: string) => env[name] ?? ''),
    );
    expect(command).toBe('proxy');
    expect(await objections(args, env)).toBe('');
  });

  it('mounts what the agent reads and writes, below the working directory /', () => {
    const mounts = proxy.volumeMounts.map(({ mountPath }) => mountPath);
    const token =
      /'third-party-jwt', '(.*?)'/.exec(read('src/pilot-agent/config/secrets-config.ts'))?.[1] ??
      '';
    const crl =
      /mountedCrl = '(.*?)'/.exec(read('src/pilot-agent/config/secrets-config.ts'))?.[1] ?? '';
    const needed = [token, caFiles.istiod, crl, annotationsFile].map((path) =>
      dirname(join('/', path)),
    );
    expect([...mounts].sort()).toEqual([flags.configPath.default, ...needed].sort());
    expect(proxy.volumeMounts.map(({ name }) => name).sort()).toEqual(
      spec.volumes.map(({ name }) => name).sort(),
    );
  });

  it('asks ports that are open', () => {
    const { startupProbe, readinessProbe, livenessProbe, ports } = proxy;
    const probeAddresses = [startupProbe, readinessProbe, livenessProbe].map(
      ({ httpGet: { path, port } }) => `${port}${path}`,
    );
    expect(probeAddresses).toEqual([
      '15020/healthz/startup',
      '15021/healthz/ready',
      '15020/healthz/live',
    ]);
    expect(ports).toEqual([expect.objectContaining({ containerPort: 15_090 })]);
  });

  it('has a grace period that is long enough for its drain, and an application that outlives it', () => {
    const drain = Number(env['TERMINATION_DRAIN_DURATION_SECONDS']);
    const [, sleep] = spec.containers[0]?.lifecycle?.preStop.exec.command ?? [];
    expect(Number(sleep)).toBeGreaterThan(drain);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      Math.max(drain, Number(sleep)) + 3,
    );
  });
});

describe('the unit file', () => {
  const [unit = ''] = blocks(guide('systemd'), 'ini');
  const settings = [...unit.replaceAll('\\\n', '').matchAll(/^(\w+)=(.*)$/gm)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );
  const setting = (name: string) => settings.find(([key]) => key === name)?.[1];

  it('has flags and variables that the agent takes without a warning', async () => {
    const [node, program, command, ...args] = (setting('ExecStart') ?? '').split(/\s+/);
    expect([node, program, command]).toEqual([
      '/usr/bin/node',
      '/opt/pilot-agent/dist/pilot-agent.cjs',
      'proxy',
    ]);
    const env = settings
      .filter(([name]) => name === 'Environment')
      .map(([, value]) => value.split('='));
    expect(await objections(args, Object.fromEntries(env) as NodeJS.ProcessEnv)).toBe('');
    expect(args).toEqual(
      expect.arrayContaining([
        '--keepEnvoy',
        '--configPath',
        `/run/${setting('RuntimeDirectory') ?? ''}`,
      ]),
    );
  });

  it('leaves Envoy alone, and starts again what a restart may help', () => {
    expect([setting('KillMode'), setting('RuntimeDirectoryPreserve')]).toEqual(['process', 'yes']);
    expect(setting('RestartPreventExitStatus')).toBe(`${exitCodes.usage} ${exitCodes.config}`);
  });
});
