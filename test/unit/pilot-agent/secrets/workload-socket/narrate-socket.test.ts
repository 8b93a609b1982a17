import { describe, expect, it } from 'vitest';
import { narrateSocket } from '../../../../../src/pilot-agent/secrets/workload-socket/narrate-socket.ts';

describe('the log of the workload socket', () => {
  const id = 'spiffe://mesh.example/ns/shop/sa/cart';
  const [path, before] = ['./socket', 'spiffe://mesh.example/ns/shop/sa/old'];

  it('has the first identity, and each other one with the one before', () => {
    expect(narrateSocket({ type: 'identity-given', id, before: undefined }, path)).toEqual([
      expect.objectContaining({ event: 'identity.given', path, identity: id }),
    ]);
    expect(narrateSocket({ type: 'identity-given', id, before }, path)).toEqual([
      expect.objectContaining({ event: 'identity.changed', path, identity: id, before }),
    ]);
  });

  it('has no line for a refusal, which is that of its secret', () => {
    expect(narrateSocket({ type: 'identity-refused', reason: 'it is not there' }, path)).toEqual(
      [],
    );
    expect(narrateSocket({ type: 'socket-asked', at: 0 }, path)).toEqual([]);
  });
});
