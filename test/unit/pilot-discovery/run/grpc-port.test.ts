import { once } from 'node:events';
import { connect } from 'node:http2';
import { setTimeout } from 'node:timers/promises';
import { ServerCredentials } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { boundedServer } from '../../../../src/pilot-discovery/run/grpc-port.ts';

describe('boundedServer', () => {
  it('does not close a connection at once if its age may be as long as a timer can wait', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.99); // gRPC adds up to a tenth
    onTestFinished(() => {
      vi.restoreAllMocks();
    });
    const keepalive = { interval: 30_000, timeout: 10_000, age: 2 ** 31 - 2 };
    const server = boundedServer({ keepalive, largestRequest: 1_000 }, [], () => undefined);
    onTestFinished(() => server.forceShutdown());
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    const session = connect(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    let closings = 0;
    session.on('goaway', () => (closings += 1));
    await once(session, 'remoteSettings');
    await setTimeout(50); // a timer that is too long ends after 1 ms
    expect(closings).toBe(0);
  });
});
