import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { resourceOf } from '../../../../../src/pilot-discovery/generate/encoding/resource-of.ts';

const body = (text: string) => Buffer.from(text);

describe('a resource of encoded bytes', () => {
  it('has a version by its content, and each key once', () => {
    const resource = resourceOf('a', body('one'), ['x', 'y', 'x']);
    expect(resource).toEqual({
      name: 'a',
      version: createHash('sha256').update('one').digest('hex').slice(0, 32),
      body: body('one'),
      keys: ['x', 'y'],
    });
  });

  it('is the same object for equal content of the same resources', () => {
    const resource = resourceOf('a', body('one'), ['x']);
    expect(resourceOf('a', body('one'), ['x', 'x'])).toBe(resource);
  });

  it.each([
    ['another name', () => resourceOf('b', body('one'), ['x'])],
    ['other content', () => resourceOf('a', body('two'), ['x'])],
    ['other resources', () => resourceOf('a', body('one'), ['y'])],
    ['resources in another order', () => resourceOf('a', body('one'), ['y', 'x'])],
  ])('is another object with %s', (_, other) => {
    const resource = resourceOf('a', body('one'), ['x']);
    expect(other()).not.toBe(resource);
  });
});
