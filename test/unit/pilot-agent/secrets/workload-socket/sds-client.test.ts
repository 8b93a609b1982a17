import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { certificateAuthority } from '../../../../../demo/certificates.ts';
import {
  type Bundle,
  readBundle,
  readSvid,
} from '../../../../../src/pilot-agent/secrets/workload-socket/read-answer.ts';
import { sdsClient } from '../../../../../src/pilot-agent/secrets/workload-socket/sds-client.ts';
import type { StreamSign } from '../../../../../src/pilot-agent/secrets/workload-socket/secret-server.ts';
import {
  plainRoots,
  startWorkloadSocket,
  svidOf,
  type WorkloadSocket,
} from '../../../../support/workload-socket.ts';

const ca = await certificateAuthority();

describe('a stream of secrets over a socket', () => {
  let folder: string;
  let path: string;
  let server: WorkloadSocket | undefined;
  let running: Subscription | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sds-client-'));
    path = join(folder, 'socket');
  });
  afterEach(() => {
    running?.unsubscribe();
    server?.close();
    server = undefined;
    rmSync(folder, { recursive: true });
  });

  /** Returns the signs of a stream about the roots, as they come. */
  function signs(): readonly StreamSign<Bundle>[] {
    const list: StreamSign<Bundle>[] = [];
    running = sdsClient(path, 'sidecar~1.2.3.4~a.b~c')
      .follow('ROOTCA', (answer) => readBundle(answer, 'ROOTCA'))
      .subscribe({
        next: (sign) => list.push(sign),
        error: (error: unknown) => list.push(error as never),
      });
    return list;
  }
  const first = () =>
    firstValueFrom(
      sdsClient(path, 'node').follow('ROOTCA', (answer) => readBundle(answer, 'ROOTCA')),
      { defaultValue: undefined },
    );

  it('asks for one secret as Envoy does, and ACKs each answer', async () => {
    server = await startWorkloadSocket(path);
    server.give(plainRoots(ca.rootCert));
    const list = signs();
    await expect.poll(() => server?.requests.length).toBe(2);
    expect(list).toMatchObject([{ type: 'answered', answer: { ok: true } }]);
    expect(server.requests).toMatchObject([
      {
        resourceNames: ['ROOTCA'],
        node: { id: 'sidecar~1.2.3.4~a.b~c' },
        responseNonce: '',
        versionInfo: '',
      },
      { resourceNames: ['ROOTCA'], responseNonce: '1', versionInfo: '1' },
    ]);
  });

  it('NACKs an answer that cannot be used, with the reason and the version before', async () => {
    server = await startWorkloadSocket(path);
    server.give(plainRoots(ca.rootCert));
    signs();
    await expect.poll(() => server?.requests.length).toBe(2);
    server.give(plainRoots('nothing'));
    await expect.poll(() => server?.requests.length).toBe(3);
    expect(server.requests[2]).toMatchObject({
      responseNonce: '2',
      versionInfo: '1',
      errorDetail: { code: 13, message: 'no root certificate is in it' },
    });
  });

  it('reports what the server says if it has no such secret', async () => {
    server = await startWorkloadSocket(path);
    expect(await first()).toEqual({
      type: 'lost',
      reason: 'workload is not authorized for the requested identities ["ROOTCA"]',
    });
  });

  it('reports that the server has gone', async () => {
    server = await startWorkloadSocket(path);
    server.give(plainRoots(ca.rootCert));
    const list = signs();
    await expect.poll(() => list.length).toBe(1);
    server.close();
    await expect.poll(() => list.length).toBe(2);
    expect(list[1]).toMatchObject({ type: 'lost' });
  });

  it('refuses an answer of more than 1 MiB', async () => {
    server = await startWorkloadSocket(path);
    server.give(plainRoots(ca.rootCert.repeat(3_000)));
    const sign = await first();
    expect(sign).toMatchObject({
      type: 'lost',
      reason: expect.stringContaining('1048576') as string,
    });
  });

  it('names a path where nothing is, where no socket is, and where nobody listens', async () => {
    expect(await first()).toEqual({ type: 'lost', reason: 'it is not there' });
    writeFileSync(path, '');
    expect(await first()).toEqual({ type: 'lost', reason: 'it is not a socket' });
    rmSync(path);
    mkdirSync(path);
    expect(await first()).toEqual({ type: 'lost', reason: 'it is not a socket' });
  });

  it('keeps the bytes of a key, and no text of it', async () => {
    const { secret } = await svidOf(ca, 'spiffe://mesh.example/a');
    server = await startWorkloadSocket(path);
    server.give(secret);
    const sign = await firstValueFrom(
      sdsClient(path, 'node').follow('default', (answer) =>
        readSvid(answer, 'default', { trustDomain: undefined, now: Date.now() }),
      ),
      { defaultValue: undefined },
    );
    const key = sign?.type === 'answered' && sign.answer.ok ? sign.answer.content.pair.key : '';
    expect(key).toBeInstanceOf(Buffer);
  });
});
