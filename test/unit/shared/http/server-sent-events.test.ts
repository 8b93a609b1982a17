import { concatAll, lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { serverSentEvents } from '../../../../src/shared/http/server-sent-events.ts';

/** Returns the events of a text that comes in pieces of `length` bytes. */
function read(text: string, length = text.length, largest?: number) {
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    bytes.subarray(index * length, (index + 1) * length),
  );
  return lastValueFrom(of(...pieces).pipe(serverSentEvents(largest), concatAll(), toArray()), {
    defaultValue: [],
  });
}

describe('server-sent events', () => {
  const text =
    ': hello\n\nevent: epochs\ndata: {"a":"é日本"}\n\ndata: 1\ndata: 2\nid: 7\n\n\nevent:log\r\ndata:x: y\r\n\r\nevent: cut\ndata: off';
  const events = [
    { event: 'epochs', data: '{"a":"é日本"}' },
    { event: 'message', data: '1\n2' },
    { event: 'log', data: 'x: y' },
  ];

  it.each([1, 2, 3, 5, 7, 1_000])('are the same, whatever the pieces: %i bytes', async (length) => {
    expect(await read(text, length)).toEqual(events);
  });

  it('may have separators of Unicode in their data', async () => {
    expect(await read('data: a\u2028b\u2029c\u0085d\n\n')).toEqual([
      { event: 'message', data: 'a\u2028b\u2029c\u0085d' },
    ]);
  });

  it('fail if one has no end', async () => {
    await expect(read(`data: ${'a'.repeat(200)}`, 10, 100)).rejects.toThrow(
      'an event has more than 100 characters',
    );
    expect(await read(`data: ${'a'.repeat(60)}\n\n`.repeat(5), 10, 100)).toHaveLength(5);
  });
});
