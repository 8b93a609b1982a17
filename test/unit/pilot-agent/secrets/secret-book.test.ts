import { NEVER, Observable, of, Subscription, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { SecretState } from '../../../../src/pilot-agent/secrets/secret.ts';
import { findSecret, secretBook } from '../../../../src/pilot-agent/secrets/secret-book.ts';
import { crlFile } from '../../../../src/pilot-agent/secrets/with-crl.ts';

const find = findSecret({
  workload$: NEVER,
  files: () => NEVER,
  crl: crlFile(''),
  gateway: () => undefined,
});

describe('the names of secrets', () => {
  it.each([
    'file-root:/proc/self/pagemap',
    'file-root:/etc/../proc/self/environ',
    'file-cert:/etc/cert.pem~/proc/self/fd/7',
    'file-cert:/sys/kernel/notes~/etc/key.pem',
  ])('of the files of the kernel are not valid names: %s', (name) => {
    expect(find(name)).toEqual({ ok: false, reason: 'no secret is read from /proc or /sys' });
  });

  it.each([
    'file-root:/etc/proc/root.pem',
    'file-root:/process/root.pem',
    'file-root:etc/root.pem',
    'file-cert:/etc/c.pem~/dev/shm/k.pem',
  ])('of other files are: %s', (name) => {
    expect(find(name)).toMatchObject({ ok: true });
  });

  it('are followed up to a limit, which is told', () => {
    const book = secretBook(find);
    const all = new Subscription();
    const states: SecretState[] = [];
    const follow = (name: string) =>
      all.add(
        book
          .get(name)
          .subscribe({ next: (state) => states.push(state), error: expect.unreachable }),
      );
    for (let index = 0; index < 4_000; index += 1) follow(`file-root:/${index}`);
    expect(states).toEqual([]);
    follow('file-root:/more');
    follow('file-root:/1');
    expect(states).toEqual([
      expect.objectContaining({
        name: 'file-root:/more',
        refused: '4000 secrets are followed already, which is the limit',
      }),
    ]);
    all.unsubscribe();
  });

  it.each([
    ['goes on, so that an Envoy that comes back finds it', NEVER, true],
    ['ends with the server, so that nothing keeps the program alive', of('over'), false],
  ])('a secret that nobody asks for any longer %s', (_, over$, isFollowed) => {
    let followers = 0;
    const set$ = new Observable<never>(() => {
      followers += 1;
      return () => (followers -= 1);
    });
    const book = secretBook(
      () => ({ ok: true, kind: 'pair', set$ }),
      over$,
      new VirtualTimeScheduler(),
    );
    const asking = book.get('default').subscribe({ error: expect.unreachable });
    expect(followers).toBe(1);
    asking.unsubscribe();
    expect(followers).toBe(Number(isFollowed));
  });
});
