import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { UnsecuredJWT } from 'jose';
import { NEVER, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  certificateAuthority,
  type CertificateAuthority,
  writeCertificates,
} from '../../../../../demo/certificates.ts';
import type { PartFailed } from '../../../../../src/pilot-agent/run/state/part.ts';
import { runSecrets } from '../../../../../src/pilot-agent/run/secrets/run-secrets.ts';
import { secretsPlan } from '../../../../../src/pilot-agent/run/secrets/secrets-plan.ts';
import type { ServersSign } from '../../../../../src/pilot-agent/run/state/view.ts';
import { startCaServer } from '../../../../support/ca-server.ts';
import { configOf } from '../../../../support/resolved.ts';

const before = process.cwd();

describe('the secrets of a run', () => {
  let folder: string;
  let ca: CertificateAuthority;
  let running: Subscription | undefined;
  let signs: (ServersSign | PartFailed)[];
  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'run-secrets-')));
    process.chdir(folder);
    ca = await certificateAuthority();
    signs = [];
  });
  afterEach(() => {
    running?.unsubscribe();
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });

  function start(env: NodeJS.ProcessEnv, run = runSecrets): void {
    const agent = configOf({ env, given: { configPath: folder } });
    running = run(secretsPlan(agent), agent, {
      issued: () => undefined,
      controlPlane$: NEVER,
    }).subscribe({
      next: (sign) => signs.push(sign),
      error: expect.unreachable,
    });
  }

  function put(path: string, text: string): void {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  it('cost nothing before Envoy asks: neither gRPC is loaded nor what an authority needs, and none is asked', async () => {
    const loaded: string[] = [];
    const heavy = ['@grpc/grpc-js', '@bufbuild/protobuf', '@peculiar/x509', 'jose'];
    for (const name of heavy) {
      vi.doMock(name, (original) => {
        loaded.push(name);
        return original();
      });
    }
    vi.resetModules();
    try {
      const module = await import('../../../../../src/pilot-agent/run/secrets/run-secrets.ts');
      put('var/run/secrets/tokens/istio-token', 'token');
      start({}, module.runSecrets);
      await expect.poll(() => signs.map(({ type }) => type)).toContain('servers-listening');
      expect(loaded).toEqual([]);
      const client = connect(join(folder, 'SDS'));
      await expect
        .poll(() => loaded)
        .toEqual(expect.arrayContaining(['@grpc/grpc-js', '@bufbuild/protobuf']));
      expect(loaded).not.toContain('jose');
      client.destroy();
    } finally {
      for (const name of heavy) vi.doUnmock(name);
      vi.resetModules();
    }
  });

  it('are written where OUTPUT_CERTS says', async () => {
    const issued = await ca.issue();
    mkdirSync('given');
    writeCertificates(join(folder, 'given'), issued);
    start({ PROV_CERT: 'given', OUTPUT_CERTS: 'output' });
    const read = (name: string) => {
      try {
        return readFileSync(join(folder, 'output', name), 'utf8');
      } catch {
        return undefined;
      }
    };
    await expect.poll(() => read('root-cert.pem')).toBe(issued.rootCert);
    expect([read('cert-chain.pem'), read('key.pem')]).toEqual([issued.certChain, issued.key]);
  });

  it('tell once that they cannot be written, and once that they can be again', async () => {
    mkdirSync('given');
    writeCertificates(join(folder, 'given'), await ca.issue());
    put('output', 'no folder');
    start({ PROV_CERT: 'given', OUTPUT_CERTS: 'output' });
    const loggedWrites = () =>
      signs.flatMap((sign) =>
        sign.type === 'servers-log' && sign.line.event.endsWith('written') ? [sign.line.event] : [],
      );
    await expect.poll(loggedWrites).toEqual(['secret.not_written']);
    rmSync('output');
    writeCertificates(join(folder, 'given'), await ca.issue());
    await expect.poll(loggedWrites).toEqual(['secret.not_written', 'secret.written']);
  });

  it('tell how often their authority was asked, and how often in vain', async () => {
    const { rootCert: roots, certChain: chain, key } = await ca.issue();
    put('etc/certs/root-cert.pem', roots);
    put(
      'var/run/secrets/tokens/istio-token',
      new UnsecuredJWT({})
        .setSubject('system:serviceaccount:default:sleep')
        .setExpirationTime('1h')
        .encode(),
    );
    const server = await startCaServer(ca, { tls: { roots, chain, key, asksClient: false } });
    const sign = server.answer;
    server.answer = (request) =>
      server.requests.length > 1
        ? sign(request)
        : Promise.resolve({ code: status.UNAVAILABLE, details: 'not yet' });
    try {
      start({
        CA_ADDR: `127.0.0.1:${server.port}`,
        PILOT_CERT_PROVIDER: 'custom',
        ECC_SIGNATURE_ALGORITHM: 'ECDSA',
      });
      const requests = () => {
        const families =
          signs.findLast((sign) => sign.type === 'servers-measured')?.families() ?? [];
        return ['outgoing', 'failed_outgoing'].map(
          (kind) =>
            families.find(({ name }) => name === `istio_agent_num_${kind}_requests`)?.samples[0]
              ?.value,
        );
      };
      expect(requests()).toEqual([0, 0]);
      await expect.poll(requests).toEqual([2, 1]);
    } finally {
      server.close();
    }
  });
});
