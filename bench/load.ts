import { rotateUnderLoad } from '../test/e2e/support/rotate-under-load.ts';

const requests = 1_000_000;

/** `bench load [ROTATIONS]`: a million requests over that many hot restarts; how many failed, and what the slowest took. */
export async function load(rotations = 10): Promise<void> {
  const results = await rotateUnderLoad({
    rotations,
    requests,
    timeoutMs: 1_800_000,
    onRotation: (rotation, sent) => console.error(`rotation ${rotation} of ${rotations}, ${sent} requests`),
  });
  for (const [mode, { ok, failed, retried, connections, errors, slowest, duration }] of Object.entries(results)) {
    console.log(
      `${mode}: ${failed} of ${ok + failed} failed in ${(duration / 1_000).toFixed(0)} s over ${connections} connections; ` +
        `${retried} sent once more; the slowest took ${slowest.toFixed(0)} ms`,
    );
    for (const [reason, count] of errors) console.log(`  ${count} × ${reason}`);
    if (failed > 0) process.exitCode = 1;
  }
}
