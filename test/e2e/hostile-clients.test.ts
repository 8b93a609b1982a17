import { resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { typeUrls } from '../../src/pilot-discovery/push/view.ts';
import { type Attacker, startAttacker } from '../hostile/attacker.ts';
import { type AttackedControlPlane, attackedControlPlane } from '../hostile/control-plane.ts';
import { clients } from '../hostile/rows-of-clients.ts';
import { files } from '../hostile/rows-of-files.ts';
import { frames } from '../hostile/rows-of-frames.ts';
import { acceptingClient } from '../support/proxy-client.ts';

describe('a control plane that one client or one file attacks', () => {
  let plane: AttackedControlPlane;
  let attacker: Attacker;
  beforeAll(async () => {
    [plane, attacker] = await Promise.all([attackedControlPlane(), startAttacker()]);
    await plane.change();
  });
  afterAll(() => Promise.all([plane.dispose(), attacker.dispose()]));

  it.each(
    [...clients, ...files, ...frames]
      .filter(({ cost }) => cost === undefined)
      .map((row) => [row.name, row] as const),
  )('goes on: %s', async (_, { name, logged }) => {
    const from = plane.lines.length;
    const end = await attacker.attack(name, plane.target);
    // Elapsed time proves little on a busy machine, so processor time counts: two seconds are a
    // stall.
    expect((await plane.change()).own).toBeLessThan(2_000);
    if (logged !== undefined) {
      const [event, reason] = logged;
      const isTold = () =>
        plane.lines
          .slice(from)
          .some((line) => line.event === event && String(line['reason']).includes(reason));
      await expect.poll(isTold).toBe(true);
    }
    await end();
    expect(plane.exitCode()).toBeUndefined();
  });

  it('is told of by `request` without what a terminal acts on, and by a line of the log', async () => {
    const { ports } = plane.target;
    const id = `sidecar~10.0.0.9~\u009b31m\u202eevil${'n'.repeat(4_000)}.default~default.svc.cluster.local`;
    const evil = acceptingClient(ports.xds, id, typeUrls.cluster);
    const connected = () =>
      plane.lines.filter(({ event, nodeId }) => event === 'discovery.connected' && nodeId === id);
    await expect.poll(connected).toHaveLength(1);
    const args = ['request', 'GET', '/debug/syncz', '--httpAddr', `127.0.0.1:${ports.http}`];
    const { stdout } = await execa(process.execPath, [
      resolve('dist/pilot-discovery.cjs'),
      ...args,
    ]);
    evil.close();
    expect(stdout).toContain('\\x9b31m\\u202eevil');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  it('has a line for a node id that is too long, and no stream', async () => {
    const from = plane.lines.length;
    const client = acceptingClient(
      plane.target.ports.xds,
      `sidecar~10.0.0.9~${'n'.repeat(3 << 20)}.default~x`,
      typeUrls.cluster,
    );
    await expect.poll(() => client.statuses.length).toBe(1);
    const reasons = () =>
      plane.lines.slice(from).map(({ event, reason }) => `${event} ${String(reason)}`);
    await expect.poll(reasons).toContainEqual(expect.stringContaining('its node has 31457'));
    client.close();
  });
});
