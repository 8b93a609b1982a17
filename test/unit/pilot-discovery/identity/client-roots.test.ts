import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { concat, defer, NEVER, of, type Subscription } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { certificateAuthority } from '../../../../demo/certificates.ts';
import { withClientRoots } from '../../../../src/pilot-discovery/identity/client-roots.ts';
import type { ServingEvent } from '../../../../src/pilot-discovery/identity/serving-files.ts';

let folder: string;
let subscription: Subscription | undefined;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'client-roots-'))));
afterEach(() => {
  subscription?.unsubscribe();
  rmSync(folder, { recursive: true });
});

const file = () => join(folder, 'roots.pem');
const write = (text: string) => {
  writeFileSync(`${file()}~`, text);
  renameSync(`${file()}~`, file());
};

/** Returns the events of a server whose roots are `ownRoots`, and whose keys are numbered. */
function eventsOf(ownRoots: string): readonly ServingEvent[] {
  const events: ServingEvent[] = [];
  let keyNumber = 0;
  const serving$ = defer(() =>
    of<ServingEvent>({
      type: 'serving',
      serving: { chain: 'chain', key: Buffer.from([++keyNumber]), roots: ownRoots },
    }),
  );
  subscription = withClientRoots(concat(serving$, NEVER), file()).subscribe({
    next: (event) => events.push(event),
    error: (error: unknown) => expect.fail(String(error)),
  });
  return events;
}

it('adds the roots of a file, with another certificate at each change of them', async () => {
  const [ca, other] = await Promise.all([certificateAuthority(), certificateAuthority('other')]);
  write(ca.rootCert);
  const events = eventsOf('own');
  const serving = (key: number, roots: string) => ({
    type: 'serving',
    serving: { chain: 'chain', key: Buffer.from([key]), roots: `own\n${roots}` },
  });
  await expect.poll(() => events).toEqual([serving(1, ca.rootCert)]);
  write(ca.rootCert + other.rootCert);
  await expect.poll(() => events.slice(1)).toEqual([serving(2, ca.rootCert + other.rootCert)]);
});

it('does not serve before the file can be read, and names the reason; later the last roots stay', async () => {
  const ca = await certificateAuthority();
  const events = eventsOf('own');
  const unserved = (reason: string) => ({
    type: 'unserved',
    reason: expect.stringMatching(
      `^the roots of clients cannot be used: ${file()}: ${reason}`,
    ) as string,
  });
  await expect.poll(() => events).toEqual([unserved('ENOENT')]);
  write(ca.rootCert);
  await expect.poll(() => events).toHaveLength(2);
  expect(events[1]).toMatchObject({ type: 'serving' });
  write('no certificate');
  await expect.poll(() => events.slice(2)).toEqual([unserved('no root certificate is in it')]);
  write(ca.rootCert);
  await new Promise((done) => setTimeout(done, 500));
  expect(events).toHaveLength(3);
});
