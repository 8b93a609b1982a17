import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { concatMap, firstValueFrom, from, NEVER, of, take, toArray } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { store } from '../../../../../src/pilot-agent/xds-proxy/store.ts';
import { narrateWrites, runXds } from '../../../../../src/pilot-agent/run/secrets/run-xds.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'run-xds-'))));
afterEach(() => rmSync(folder, { recursive: true }));

it('the xDS proxy tells that what is stored is of no use, and that it listens', async () => {
  const store = join(folder, 'xds-store');
  writeFileSync(store, 'damaged');
  const plan = {
    socket: join(folder, 'XDS'),
    store,
    nodeId: 'node',
    target: { address: 'localhost:1', tls: undefined, clusterId: 'Kubernetes' },
    maxAge: 1_000,
  };
  const line$ = runXds(plan, NEVER, () => undefined).pipe(
    concatMap((sign) => (sign.type === 'servers-log' ? of(sign.line) : [])),
    take(2),
    toArray(),
  );
  expect(await firstValueFrom(line$, { defaultValue: [] })).toMatchObject([
    { component: 'xds', event: 'xds.store_ignored', path: store, reason: 'it is damaged' },
    { component: 'xds', event: 'xds.listening' },
  ]);
});

it('the xDS proxy ignores what is stored if the age limit is 0', async () => {
  const path = join(folder, 'xds-store');
  const target = { address: 'localhost:1', tls: undefined, clusterId: 'Kubernetes' };
  const good = { types: new Map(), nodeId: 'node', confirmedAt: Date.now() + 60_000 };
  expect(store(path, good.nodeId, target.address).write(good)).toBeUndefined();
  const plan = { socket: join(folder, 'XDS'), store: path, nodeId: 'node', target, maxAge: 0 };
  const line$ = runXds(plan, NEVER, () => undefined).pipe(
    concatMap((sign) => (sign.type === 'servers-log' ? of(sign.line) : [])),
  );
  const reason = '--xdsStoreMaxAge is 0';
  const shown = await firstValueFrom(line$, { defaultValue: undefined });
  expect(shown).toMatchObject({ event: 'xds.store_ignored', path, reason });
});

it('a store tells once that it cannot be written, for each reason, and once that it can be again', async () => {
  const reasons = [undefined, 'ENOSPC', 'ENOSPC', 'EACCES', undefined, undefined];
  const line$ = from(reasons).pipe(narrateWrites('/a'), toArray());
  expect(await firstValueFrom(line$, { defaultValue: [] })).toEqual([
    ...['ENOSPC', 'EACCES'].map((reason) => ({
      level: 'warn',
      event: 'xds.store_failed',
      msg: 'the configuration of the control plane cannot be stored',
      path: '/a',
      reason,
    })),
    {
      level: 'info',
      event: 'xds.stored',
      msg: 'the configuration of the control plane can be stored again',
      path: '/a',
    },
  ]);
});
