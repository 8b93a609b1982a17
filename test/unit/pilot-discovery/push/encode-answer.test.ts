import { asapScheduler, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { answerEncoder } from '../../../../src/pilot-discovery/push/encode-answer.ts';
import type { Answer } from '../../../../src/pilot-discovery/push/proxy-stream.ts';
import { typeUrls } from '../../../../src/pilot-discovery/push/view.ts';

const answerOf = (nonce: string, bytes = 10): Answer => ({
  typeUrl: typeUrls.cluster,
  nonce,
  version: 'v',
  resources: [{ name: nonce, version: 'v', body: new Uint8Array(bytes), keys: [] }],
  removed: [],
  snapshot: 1,
  purpose: 'change',
});

const newEncoder = () => answerEncoder('here', asapScheduler).encode;

describe('the answers that are kept for other proxies', () => {
  it('are encoded once for each variant', () => {
    const encode = newEncoder();
    const first = encode(answerOf('1'), 'delta');
    expect(encode(answerOf('1'), 'delta')).toBe(first);
    expect(encode(answerOf('1'), 'state-of-the-world')).not.toEqual(first);
  });

  it('are not those about types that are not served, which have one nonce', () => {
    const encode = newEncoder();
    const empty = (typeUrl: string): Answer => ({ ...answerOf('none'), typeUrl, resources: [] });
    expect(encode(empty('one'), 'delta').includes('one')).toBe(true);
    expect(encode(empty('other'), 'delta').includes('other')).toBe(true);
  });

  it('keep no memory but their own bytes', () => {
    const answer = newEncoder()(answerOf('1'), 'delta');
    expect(answer.buffer.byteLength).toBe(answer.length);
  });

  it.each([
    ['1,000 answers', 10, 1_000],
    ['64 MB', 1024 * 1024, 63],
  ])('are the newest: at most %s', (_, bytes, number) => {
    const encode = newEncoder();
    const [first, second] = ['1', '2'].map((nonce) =>
      encode(answerOf(nonce, bytes), 'state-of-the-world'),
    );
    for (let n = 3; n <= number + 1; n += 1)
      encode(answerOf(String(n), bytes), 'state-of-the-world');
    expect(encode(answerOf('2', bytes), 'state-of-the-world') === second).toBe(true);
    expect(encode(answerOf('1', bytes), 'state-of-the-world') === first).toBe(false);
  });

  it('are forgotten once nobody has been given them for a while, without another answer', () => {
    const scheduler = new VirtualTimeScheduler();
    const { encode, forget$ } = answerEncoder('here', scheduler);
    const forgetting = forget$.subscribe();
    const [rare, often] = [encode(answerOf('1'), 'delta'), encode(answerOf('2'), 'delta')];
    const isKept: boolean[] = [];
    for (const ms of [15_000, 30_000, 45_000])
      scheduler.schedule(() => isKept.push(encode(answerOf('2'), 'delta') === often), ms);
    scheduler.schedule(() => isKept.push(encode(answerOf('1'), 'delta') === rare), 50_000);
    scheduler.schedule(() => forgetting.unsubscribe(), 200_000);
    scheduler.flush();
    expect(isKept).toEqual([true, true, true, false]);
    expect(scheduler.now()).toBe(200_000);
  });

  it('cost no timer while there are none', () => {
    const scheduler = new VirtualTimeScheduler();
    const { encode, forget$ } = answerEncoder('here', scheduler);
    forget$.subscribe();
    encode(answerOf('1'), 'delta');
    scheduler.flush();
    expect(scheduler.now()).toBe(40_000);
    expect(scheduler.actions).toEqual([]);
  });
});
