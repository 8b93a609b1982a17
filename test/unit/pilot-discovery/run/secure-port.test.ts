import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncScheduler, BehaviorSubject, EMPTY, type Subscription } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ServingEvent } from '../../../../src/pilot-discovery/identity/serving-files.ts';
import { securePort } from '../../../../src/pilot-discovery/run/secure-port.ts';
import {
  blockedRanges,
  usuallyBlocked,
} from '../../../../src/pilot-discovery/registry/keys/blocked-ranges.ts';
import { testCrl } from '../../../support/test-crl.ts';
import { type WorkloadAuthority, workloadAuthority } from '../../../support/workload-authority.ts';

let folder: string;
let running: Subscription | undefined;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'secure-port-'))));
afterEach(() => {
  running?.unsubscribe();
  rmSync(folder, { recursive: true });
});

/** Returns the CRLs in use with the files of an authority, while the mesh has these CRLs. */
async function crlsOf(
  authority: WorkloadAuthority,
  filesAre: 'given' | 'mounted',
  crl$: BehaviorSubject<string>,
) {
  const { chain, key } = await authority.issue({ names: [{ type: 'dns', value: 'istiod.test' }] });
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const files = {
    chain: write('tls.crt', chain),
    key: write('tls.key', key),
    roots: [write('ca.crt', authority.root)],
  };
  const ranges = blockedRanges(usuallyBlocked);
  if ('wrong' in ranges) throw new Error(ranges.wrong);
  const { serving$ } = securePort(
    {
      address: { host: '127.0.0.1', port: 0 },
      ...{ files, filesAre, moreRoots: '', nodes: 'own' },
      tokens: { audiences: [], rule: undefined },
    },
    {
      authority: { crl$, event$: EMPTY, service$: () => EMPTY, servingOr$: () => EMPTY },
      findApi: undefined,
      blockedRanges: ranges,
      snapshot$: EMPTY,
      scheduler: asyncScheduler,
    },
  );
  const events: ServingEvent[] = [];
  running = serving$.subscribe({
    next: (event) => events.push(event),
    error: (error: unknown) => expect.fail(String(error)),
  });
  return () => events.map((event) => event.type === 'serving' && (event.serving.crl ?? ''));
}

it.each(['given', 'mounted'] as const)(
  'refuses revoked clients also if the files are %s, after each change of the CRLs',
  async (filesAre) => {
    const authority = await workloadAuthority();
    const crls = [await testCrl(authority.issuer), await testCrl(authority.issuer)];
    const crl$ = new BehaviorSubject('');
    const inUse = await crlsOf(authority, filesAre, crl$);
    await expect.poll(inUse).toEqual(['']);
    for (const crl of crls) {
      crl$.next(crl);
      await expect.poll(() => inUse().at(-1)).toBe(crl);
    }
  },
);

it('does not use CRLs of a mesh that verifies no client of the port', async () => {
  const [authority, other] = await Promise.all([workloadAuthority(), workloadAuthority('other')]);
  const inUse = await crlsOf(authority, 'given', new BehaviorSubject(await testCrl(other.issuer)));
  await expect.poll(inUse).toEqual(['']);
});
