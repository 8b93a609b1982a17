import { writeCertificates } from '../../../demo/certificates.ts';
import { eventually } from '../eventually.ts';
import { type LoadOptions, type LoadResult, startLoad } from '../load.ts';
import { makeRig } from './rig.ts';

export interface RotationsUnderLoad {
  readonly rotations: number;
  /** The number of requests over all rotations, in both modes together. */
  readonly requests: number;
  /** The time limit of the whole run, in ms. */
  readonly timeoutMs: number;
  readonly onRotation?: (rotation: number, sent: number) => void;
}

const modes = ['keep-alive', 'new-connection'] as const satisfies readonly LoadOptions['mode'][];

/**
 * Sends requests to an Envoy, in both modes at once, while its agent restarts it for one
 * certificate after another.
 */
export async function rotateUnderLoad({
  rotations,
  requests,
  timeoutMs,
  onRotation,
}: RotationsUnderLoad): Promise<Record<LoadOptions['mode'], LoadResult>> {
  const rig = await makeRig();
  try {
    const agent = rig.start(['--minDelay', '0s']);
    await agent.said('epoch.live', 0);
    const to = { port: rig.ports.listen, tls: { ca: rig.ca.rootCert }, maxDuration: timeoutMs };
    // A handshake costs as much as dozens of requests, so clients open new connections at a
    // moderate pace.
    const loads = modes.map((mode) =>
      startLoad({ ...to, mode, clients: 8, ...(mode === 'new-connection' && { pause: 50 }) }),
    );
    const sent = () => loads.reduce((sum, { counts }) => sum + counts.ok + counts.failed, 0);
    const deadline = performance.now() + timeoutMs;
    for (let rotation = 1; rotation <= rotations; rotation++) {
      writeCertificates(rig.certDir, await rig.ca.issue());
      await agent.said('epoch.live', rotation);
      await agent.said('epoch.ended', rotation - 1);
      await eventually(() => sent() >= (requests * rotation) / rotations, {
        within: deadline - performance.now(),
      });
      onRotation?.(rotation, sent());
    }
    const [keepAlive, newConnection] = await Promise.all(loads.map((load) => load.stop()));
    if (keepAlive === undefined || newConnection === undefined)
      throw new Error('two loads were started');
    return { 'keep-alive': keepAlive, 'new-connection': newConnection };
  } finally {
    await rig.dispose();
  }
}
