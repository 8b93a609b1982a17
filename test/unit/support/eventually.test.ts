import { assert, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { freePorts } from '../../support/free-ports.ts';

describe('eventually', () => {
  it('gives the first truthy result, past falsy ones and errors', async () => {
    const results = [() => 0, () => assert.fail('not yet'), () => 'there'];
    assert.equal(await eventually(() => results.shift()?.(), { within: 5000, every: 1 }), 'there');
  });

  it('says what the last attempt gave or threw', async () => {
    await expect(eventually(() => false, { within: 10, every: 1 })).rejects.toThrow(
      'not within 10 ms: the last attempt gave false',
    );
    await expect(
      eventually(() => assert.fail('two is not three'), { within: 10, every: 1 }),
    ).rejects.toThrow('threw two is not three');
  });

  it('does not wait for an attempt that hangs', async () => {
    await expect(eventually(() => new Promise(() => undefined), { within: 10 })).rejects.toThrow(
      'gave no result',
    );
  });
});

describe('freePorts', () => {
  it('never gives a port twice', async () => {
    const ports = [...(await freePorts(20)), ...(await freePorts(20))];
    assert.equal(new Set(ports).size, 40);
  });
});
