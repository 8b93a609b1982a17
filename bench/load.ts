import { rotateUnderLoad } from '../test/support/e2e/rotate-under-load.ts';
import { runtimes } from './contenders.ts';
import type { Report } from './figures.ts';

const requests = 1_000_000;

/**
 * `bench load [ROTATIONS]`: a million requests during that many hot restarts: how many failed, and
 * the time of the slowest one.
 */
export async function load(rotations = 10): Promise<Report> {
  const results = Object.entries(
    await rotateUnderLoad({
      rotations,
      requests,
      timeoutMs: 1_800_000,
      onRotation: (rotation, sent) =>
        console.error(`rotation ${rotation} of ${rotations}, ${sent} requests`),
    }),
  );
  if (results.some(([, { failed }]) => failed > 0)) process.exitCode = 1;
  return {
    figures: {
      failed: {
        [runtimes()[0]?.name ?? '']: results.reduce((sum, [, { failed }]) => sum + failed, 0),
      },
    },
    columns: ['Connections', 'Answered', 'Failed', 'Sent once more', 'Slowest'],
    rows: results.map(([mode, { ok, failed, retried, slowest }]) => [
      mode,
      ...[ok, failed, retried].map(String),
      `${slowest.toFixed(0)} ms`,
    ]),
    notes: [
      `${rotations} hot restarts for new certificates. The client keeps one of the cores busy.`,
      ...results.flatMap(([mode, { errors }]) =>
        [...errors].map(([reason, count]) => `${mode}: ${count} × ${reason}.`),
      ),
    ],
  };
}
