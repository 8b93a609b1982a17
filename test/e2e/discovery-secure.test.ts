import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { connects } from '../support/connects.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { askSecurely } from '../support/secure-client.ts';
import { uri, type WorkloadPair, workloadAuthority } from '../support/workload-authority.ts';

const service = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: default }
spec: { hosts: [a.mesh], resolution: DNS, ports: [{ number: 80, name: http, protocol: HTTP }] }
`;
const id = 'sidecar~127.0.0.1~web.shop~shop.svc.cluster.local';

describe('the secure port of pilot-discovery', () => {
  let folder: string;
  const ends: (() => unknown)[] = [];

  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-'))));
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    rmSync(folder, { recursive: true });
  });

  it('opens with the first certificate, follows the files, and refuses who is not known', async () => {
    const [grpc = 0, secure = 0, http = 0, metrics = 0] = await freePorts(4);
    mkdirSync(join(folder, 'config'));
    writeFileSync(join(folder, 'config/a.yaml'), service);
    const addressOf = (port: number) => `127.0.0.1:${port}`;
    const child = execa(
      process.execPath,
      [
        ...[resolve('dist/pilot-discovery.cjs'), 'discovery', '--configDir', 'config'],
        ...['--grpcAddr', addressOf(grpc), '--secureGRPCAddr', addressOf(secure)],
        ...['--httpAddr', addressOf(http), '--monitoringAddr', addressOf(metrics)],
      ],
      { cwd: folder, buffer: false, reject: false },
    );
    ends.push(() => (child.kill('SIGTERM'), child));
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    const lines = (event: string) =>
      output
        .split('\n')
        .slice(0, -1)
        .map((text) => JSON.parse(text) as Readonly<Record<string, unknown>>)
        .filter((line) => line['event'] === event);
    await eventually(async () => (await ask(http, '/ready')).status === 200);
    await expect.poll(() => lines('discovery.unserved_tls')).toHaveLength(1);
    expect(await connects(secure)).toBe(false);

    const authority = await workloadAuthority();
    const [first, second, caller] = await Promise.all(
      [
        { type: 'dns', value: 'istiod.test' } as const,
        { type: 'dns', value: 'istiod.test' } as const,
        uri('spiffe://cluster.local/ns/shop/sa/web'),
      ].map((name) => authority.issue({ names: [name] })),
    );
    if (first === undefined || second === undefined) throw new Error('no certificates');
    const mounted = join(folder, 'var/run/secrets/istiod/tls');
    mkdirSync(mounted, { recursive: true });
    const write = (chain: WorkloadPair, key: WorkloadPair) => {
      writeFileSync(join(mounted, 'tls.crt'), chain.chain);
      writeFileSync(join(mounted, 'tls.key'), key.key);
      writeFileSync(join(mounted, 'ca.crt'), authority.root);
    };
    write(first, first);
    await expect.poll(() => lines('discovery.serving')).toHaveLength(1);
    await expect.poll(() => connects(secure)).toBe(true);
    const asks = (pair: WorkloadPair | undefined, nodeId = id) =>
      askSecurely({
        ...{ port: secure, root: authority.root, pair },
        nodes: [{ id: nodeId, metadata: {} }],
      });
    expect(await asks(caller)).toMatchObject({ status: 'ANSWERED' });
    expect(await asks(caller, id.replace('web.shop', 'web.bank'))).toMatchObject({
      status: 'PERMISSION_DENIED',
    });
    expect(await asks(undefined)).toMatchObject({ status: 'UNAUTHENTICATED' });
    expect(await asks(undefined)).toMatchObject({ status: 'UNAUTHENTICATED' });
    expect(lines('discovery.stream_refused')).toHaveLength(1);
    expect(lines('discovery.caller_refused')).toHaveLength(1);
    expect((await ask(metrics, '/metrics')).body).toContain(
      'pilot_refused_callers{status="UNAUTHENTICATED"} 2',
    );

    write(second, first);
    await expect
      .poll(() => lines('discovery.unserved_tls').at(-1)?.['reason'])
      .toMatch(/the key does not match the certificate/);
    expect(await asks(caller)).toMatchObject({ status: 'ANSWERED' });
    write(second, second);
    await expect.poll(() => lines('discovery.serving')).toHaveLength(2);
    expect(await asks(caller)).toMatchObject({ status: 'ANSWERED' });
  });
});
