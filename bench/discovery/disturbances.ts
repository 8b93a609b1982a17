import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { execa } from 'execa';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';
import {
  DiscoveryRequestSchema,
  type DiscoveryResponse,
} from '../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { wholeClient } from '../../test/support/proxy-client.ts';
import { fleetProgram } from '../fleet.ts';
import type { Running } from './control-plane.ts';
import type { Scene } from './scenes.ts';

/** Runs `use` while other clients keep the control plane busy, and ends those clients after it. */
export async function disturbed<T>(
  beside: Scene['beside'],
  { port }: Running,
  use: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const disturbance = disturbances[beside](port, over.signal);
  try {
    return await use();
  } finally {
    over.abort();
    await disturbance;
  }
}

const disturbances: Readonly<
  Record<Scene['beside'], (port: number, over: AbortSignal) => Promise<void>>
> = {
  nothing: () => Promise.resolve(),
  'slow readers': slowReaders,
  storms,
};

/** Ten proxies that ask for all clusters, and take one answer in five seconds each. */
async function slowReaders(port: number, over: AbortSignal): Promise<void> {
  const readers = Array.from({ length: 10 }, (_, number) => {
    const client = wholeClient(port);
    const { call } = client;
    const typeUrl = typeUrls.cluster;
    call.on('data', ({ versionInfo, nonce: responseNonce }: DiscoveryResponse) => {
      call.pause();
      call.write(create(DiscoveryRequestSchema, { typeUrl, versionInfo, responseNonce }));
    });
    const id = `sidecar~10.9.0.${number + 1}~slow${number}.ns0~ns0.svc.cluster.local`;
    call.write(create(DiscoveryRequestSchema, { node: { id }, typeUrl }));
    return client;
  });
  while (!over.aborted) {
    await sleep(5_000, undefined, { signal: over }).catch(() => undefined);
    for (const { call } of readers) call.resume();
  }
  for (const reader of readers) reader.close();
}

/** Five hundred proxies that connect at once, are killed after five seconds, and connect again. */
async function storms(port: number, over: AbortSignal): Promise<void> {
  const args = ['-addr', `127.0.0.1:${port}`, '-n', '500', '-ns', '100', '-settle', '1h'];
  while (!over.aborted)
    await execa(fleetProgram, args, {
      timeout: 5_000,
      killSignal: 'SIGKILL',
      reject: false,
      cancelSignal: over,
    });
}
