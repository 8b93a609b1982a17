import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { validate } from 'dockerfile-utils';
import packageJson from '../../package.json' with { type: 'json' };
import { flags } from '../../src/pilot-agent/config/flags.ts';
import { annotationsFile } from '../../src/pilot-agent/run/start/effective-config.ts';
import { discoveryFlags } from '../../src/pilot-discovery/run/discovery-flags.ts';
import { leftOut } from '../support/left-out.ts';
import { type KubeApi, kubeProgram, pathOf, type Resource } from '../support/e2e/kube-server.ts';
import { sharedKubeApi } from '../support/e2e/shared-kube.ts';

interface Container {
  readonly name: string;
  readonly image: string;
  readonly restartPolicy?: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly startupProbe?: object;
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}

interface PodTemplate {
  readonly spec: {
    readonly terminationGracePeriodSeconds: number;
    readonly initContainers?: readonly Container[];
    readonly containers: readonly (Container & {
      readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
    })[];
  };
}

const read = (file: string) => readFileSync(join('deploy', file), 'utf8');
const manifests = ['kubernetes/sidecar.yaml', 'kubernetes/gateway.yaml'];
const controlPlane = 'kubernetes/control-plane.yaml';
const resourcesOf = (file: string) =>
  parseAllDocuments(read(file)).map((document) => document.toJS() as Resource);
const templateOf = (resources: readonly Resource[]) =>
  (
    resources.find(({ kind }) => kind === 'Deployment')?.['spec'] as {
      readonly template: PodTemplate;
    }
  ).template;
const proxyOf = ({ spec: { initContainers = [], containers } }: PodTemplate) => {
  const [proxy] = [...initContainers, ...containers].filter(
    ({ name }) => name === 'istio-proxy',
  ) as [Container];
  return proxy;
};

/** Returns what the agent reports about the flags and variables of a container. */
async function objections({ args: [command, ...args], env }: Container): Promise<string> {
  const variables = Object.fromEntries(
    env.map(({ name, value }) => [name, value ?? (name === 'ISTIO_CPU_LIMIT' ? '2' : '10.0.0.7')]),
  );
  const given = args.map((arg) =>
    arg.replace(/\$\((\w+)\)/g, (_, name: string) => variables[name] ?? ''),
  );
  expect(command).toBe('proxy');
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ['dist/pilot-agent.cjs', 'config', 'print', ...given],
    {
      env: { PATH: process.env['PATH'], ...variables },
    },
  );
  return stderr;
}

const values = parse(read('istio/values.yaml')) as {
  readonly sidecarInjectorWebhook: { readonly templates: Record<string, string> };
};
const injected = parse(values.sidecarInjectorWebhook.templates['pilot-agent'] ?? '') as PodTemplate;

describe.each(manifests)('deploy/%s', (file) => {
  const template = templateOf(resourcesOf(file));
  const proxy = proxyOf(template);

  it('has flags and variables that the agent takes without a warning', async () => {
    expect(await objections(proxy)).toBe('');
  });

  it('has the image of this version, and mounts what the agent reads and writes', () => {
    expect(proxy.image).toBe(`pilot-agent:${packageJson.version}`);
    const mounts = proxy.volumeMounts.map(({ mountPath }) => mountPath);
    expect(mounts).toEqual(
      expect.arrayContaining([flags.configPath.default, dirname(join('/', annotationsFile))]),
    );
  });

  it('has a grace period that is long enough for all that ends before', () => {
    const drain = Number(
      proxy.env.find(({ name }) => name === 'TERMINATION_DRAIN_DURATION_SECONDS')?.value,
    );
    const before = template.spec.containers.map(
      ({ lifecycle }) => lifecycle?.preStop.sleep.seconds ?? 0,
    );
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      drain + 3 + Math.max(...before),
    );
  });
});

describe('deploy/kubernetes/control-plane.yaml', () => {
  const resources = resourcesOf(controlPlane);
  const [container] = templateOf(resources).spec.containers as unknown as [
    Container & { readonly ports: readonly { readonly containerPort: number }[] },
  ];
  const portOf = (address: string) => Number(address.replace(/.*:/, ''));

  it('has flags that the program knows, the image of this version, and its ports', () => {
    const [command, ...args] = container.args;
    expect(command).toBe('discovery');
    const names = args.map((arg) => arg.replace(/^--|=.*/g, ''));
    expect(Object.keys(discoveryFlags)).toEqual(expect.arrayContaining(names));
    expect(container.image).toBe(`pilot-discovery:${packageJson.version}`);
    const { grpcAddr, secureGRPCAddr, httpAddr, monitoringAddr } = discoveryFlags;
    const defaults = [grpcAddr, secureGRPCAddr, httpAddr, monitoringAddr];
    expect(container.ports.map(({ containerPort }) => containerPort)).toEqual(
      defaults.map((flag) => portOf(flag.default)),
    );
  });

  it('is where agents look for istiod, by a Service that selects its Pods', () => {
    const service = resources.find(({ kind }) => kind === 'Service');
    expect(service).toMatchObject({ metadata: { name: 'istiod', namespace: 'istio-system' } });
    const { selector, ports } = service?.['spec'] as {
      readonly selector: object;
      readonly ports: readonly { readonly port: number }[];
    };
    expect(templateOf(resources)).toMatchObject({ metadata: { labels: selector } });
    expect(ports.map(({ port }) => port)).toEqual([15_010, 15_012, 15_014]);
  });

  it('has an image without a shell, and with its ports', () => {
    const text = read('Containerfile.control-plane');
    expect(validate(text)).toEqual([]);
    expect(text).toContain(`pilot-discovery:${packageJson.version} `);
    for (const { containerPort } of container.ports)
      expect(/EXPOSE (.*)/.exec(text)?.[1]?.split(' ')).toContain(String(containerPort));
  });
});

if (kubeProgram === undefined)
  leftOut('the manifests of deploy/, in a real Kubernetes API', 'a program');

describe.runIf(kubeProgram !== undefined)('a real Kubernetes API', () => {
  let server: KubeApi;
  beforeAll(async () => {
    server = await sharedKubeApi();
    for (const name of ['shop', 'istio-ingress'])
      await server.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  });

  const strict = 'dryRun=All&fieldValidation=Strict';
  const lay = (resource: Resource) =>
    server.ask(
      'PATCH',
      `${pathOf(resource)}?fieldManager=test&force=true&${strict}`,
      resource,
      'application/apply-patch+yaml',
    );

  it.each([...manifests, controlPlane])('takes each resource of deploy/%s', async (file) => {
    const resources = resourcesOf(file);
    for (const resource of resources) await lay(resource);
    expect(resources.map(({ kind }) => kind)).toContain('Deployment');
  });

  it('refuses what it does not know', async () => {
    const [resource] = resourcesOf('kubernetes/sidecar.yaml') as [Resource];
    await expect(lay({ ...resource, automount: true })).rejects.toThrow(
      /automount: field not declared in schema/,
    );
  });

  it('lays the template for the injector over a pod, as the injector does', async () => {
    const [, deployment] = resourcesOf('kubernetes/sidecar.yaml') as [Resource, Resource];
    const { spec } = structuredClone(templateOf([deployment]));
    const { restartPolicy, startupProbe, ...theirs } = proxyOf({ spec });
    expect([restartPolicy, startupProbe]).not.toContain(undefined);
    const { initContainers, ...pod } = {
      ...spec,
      containers: [...spec.containers, { ...theirs, image: 'proxyv2' }],
    };
    expect(initContainers).toHaveLength(1);
    const given = {
      ...deployment,
      spec: {
        ...(deployment['spec'] as object),
        template: { metadata: { labels: { app: 'web' } }, spec: pod },
      },
    };
    await server.apply(given);
    const patched = (await server.ask(
      'PATCH',
      `${pathOf(deployment)}?${strict}`,
      { spec: { template: injected } },
      'application/strategic-merge-patch+json',
    )) as Resource;
    const proxy = proxyOf(templateOf([patched]));
    expect(proxy).toMatchObject({
      image: `pilot-agent:${packageJson.version}`,
      args: theirs.args,
      startupProbe: { failureThreshold: 150 },
    });
    expect(proxy.env.map(({ name }) => name).sort()).toEqual(
      theirs.env.map(({ name }) => name).sort(),
    );
    expect(await objections(proxy)).toBe('');
  });
});
