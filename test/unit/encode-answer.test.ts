import { describe, expect, it } from 'vitest';
import { answerEncoder } from '../../src/push/encode-answer.ts';
import type { Answer } from '../../src/push/proxy-stream.ts';
import { typeUrls } from '../../src/push/view.ts';

const answerOf = (nonce: string, bytes = 10): Answer => ({
  typeUrl: typeUrls.cluster,
  nonce,
  version: 'v',
  resources: [{ name: nonce, version: 'v', body: new Uint8Array(bytes), keys: [] }],
  removed: [],
  snapshot: 1,
});

describe('the answers that are kept for other proxies', () => {
  it('are encoded once for each variant', () => {
    const encode = answerEncoder('here');
    const first = encode(answerOf('1'), 'delta');
    expect(encode(answerOf('1'), 'delta')).toBe(first);
    expect(encode(answerOf('1'), 'state-of-the-world')).not.toEqual(first);
  });

  it('keep no memory but their own bytes', () => {
    const answer = answerEncoder('here')(answerOf('1'), 'delta');
    expect(answer.buffer.byteLength).toBe(answer.length);
  });

  it.each([
    ['1,000 answers', 10, 1_000],
    ['64 MB', 1024 * 1024, 63],
  ])('are the newest: at most %s', (_, bytes, number) => {
    const encode = answerEncoder('here');
    const [first, second] = ['1', '2'].map((nonce) => encode(answerOf(nonce, bytes), 'state-of-the-world'));
    for (let n = 3; n <= number + 1; n += 1) encode(answerOf(String(n), bytes), 'state-of-the-world');
    expect(encode(answerOf('2', bytes), 'state-of-the-world') === second).toBe(true);
    expect(encode(answerOf('1', bytes), 'state-of-the-world') === first).toBe(false);
  });
});
