import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-analyze-'));
  const entry = (more: string) => `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: reviews }
spec:
  hosts: [reviews.mesh]
  resolution: DNS
  ports: [{ number: 80, name: http, protocol: HTTP }]
${more}`;
  writeFileSync(join(folder, 'good.yaml'), entry(''));
  writeFileSync(join(folder, 'odd.yaml'), entry('  later: true\n'));
  writeFileSync(
    join(folder, 'bad.yaml'),
    `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: reviews }
spec:
  hosts: [reviews.mesh]
  http:
    - route:
        - destination: { host: "reviews\\u001b[2J.mesh" }
    - route:
        - destination: { host: ratings.mesh }
`,
  );
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const analyze = (...args: readonly string[]) =>
  execa(process.execPath, [resolve('dist/pilot-discovery.cjs'), 'analyze', ...args], {
    cwd: folder,
    reject: false,
  });

describe('pilot-discovery analyze', () => {
  it('says nothing of good files, and ends with 0', async () => {
    expect(await analyze('good.yaml')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('ends with 0 if there are warnings alone', async () => {
    const { exitCode, stdout } = await analyze('odd.yaml');
    expect([exitCode, stdout.split('\n')]).toEqual([
      0,
      [
        expect.stringMatching(
          /^Warning \[IST0133\] \(ServiceEntry default\/reviews odd\.yaml:8\) /,
        ),
      ],
    ]);
  });

  it('ends with 1 if there is an error, and prints no control character', async () => {
    const { exitCode, stdout, stderr } = await analyze('good.yaml', 'bad.yaml');
    expect([exitCode, stderr]).toEqual([1, '']);
    expect(stdout).not.toMatch(/\u001b/);
    expect(stdout).toContain('(VirtualService default/reviews bad.yaml:8)');
  });

  it('prints JSON', async () => {
    const { exitCode, stdout } = await analyze('.', '--output=json');
    const codes = (JSON.parse(stdout) as readonly { readonly code: string }[]).map(
      ({ code }) => code,
    );
    expect([exitCode, new Set(codes)]).toEqual([1, new Set(['IST0106', 'IST0133'])]);
  });

  it.each([
    [['none.yaml'], /none\.yaml is not there: name files and folders$/],
    [['.', '-o', 'xml'], /--output: 'xml' is neither text nor json$/],
    [['.', '--registries', 'Eureka'], /--registries: 'Eureka' is not one of Kubernetes, Consul$/],
    [[], /missing required argument 'path'; see pilot-discovery --help$/],
  ])('refuses %j with 64', async (args, line) => {
    const { exitCode, stdout, stderr } = await analyze(...args);
    expect([exitCode, stdout]).toEqual([64, '']);
    expect(stderr).toMatch(line);
  });

  it('completes hosts by --domain', async () => {
    writeFileSync(
      join(folder, 'rule.yaml'),
      `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: a }
spec: { host: a }
`,
    );
    const { stdout } = await analyze('rule.yaml', '--domain', 'corp.test');
    expect(stdout).toContain('no service has the host a.default.svc.corp.test');
  });

  it('compares providers with --meshConfig, and accepts hosts of --registries', async () => {
    writeFileSync(
      join(folder, 'consul.yaml'),
      `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: a }
spec: { host: a.service.consul }
---
apiVersion: telemetry.istio.io/v1
kind: Telemetry
metadata: { name: a }
spec: { tracing: [{ providers: [{ name: none }] }] }
`,
    );
    writeFileSync(join(folder, 'mesh'), 'trustDomain: shop.test\n');
    const { stdout } = await analyze('consul.yaml', '--meshConfig', 'mesh');
    expect(stdout).toContain('no service has the host a.service.consul');
    expect(stdout).toContain('the MeshConfig has no provider none');
    expect(await analyze('consul.yaml', '--registries', 'Consul')).toMatchObject({
      exitCode: 0,
      stdout: '',
    });
    expect(await analyze('consul.yaml', '--meshConfig', 'missing')).toMatchObject({ exitCode: 78 });
  });
});
