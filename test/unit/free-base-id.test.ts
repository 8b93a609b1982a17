import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freeBaseId, sharedMemoryOf } from '../../src/proxy/proc.ts';

const most = 400_000_000;
/** A random source that draws these ids, one after the other. */
const drawing = (...ids: readonly number[]) => {
  const left = [...ids];
  return () => ((left.shift() ?? expect.unreachable('too many draws')) - 0.5) / most;
};
const socket = (role: string, id: number) =>
  `0000000000000000: 00000002 00000000 00000000 0002 01 4711 @envoy_domain_socket_${role}_${id}\n`;

describe('freeBaseId', () => {
  it('is what is drawn, on a machine without Envoy', () => {
    expect(freeBaseId('Num RefCount Protocol Flags Type St Inode Path\n', ['sem.x', 'envoy_shared'], drawing(42))).toBe(42);
  });

  it.each([
    { what: 'the socket of a first epoch', unix: socket('parent', 420), shared: [] },
    { what: 'the socket of a later epoch', unix: socket('child', 421), shared: [] },
    { what: 'the last of its ten sockets', unix: socket('parent', 429), shared: [] },
    { what: 'shared memory that was left behind', unix: '', shared: ['envoy_shared_memory_420'] },
  ])('is another one where there is $what', ({ unix, shared }) => {
    expect(freeBaseId(unix, shared, drawing(42, 43))).toBe(43);
  });

  it('minds neither neighbours nor names that only look alike', () => {
    const unix = socket('parent', 410) + socket('parent', 430) + '1: 2 3 4 5 6 7 /run/envoy_domain_socket_parent_420\n';
    expect(freeBaseId(unix, ['envoy_shared_memory_419', 'envoy_shared_memory_430', 'my_envoy_shared_memory_420'], drawing(42))).toBe(42);
  });

  it('is never a taken one, and one that Envoy can multiply by ten', () => {
    const id = fc.integer({ min: 1, max: 30 });
    const role = fc.constantFrom('parent', 'child', 'a_b');
    const epoch = fc.nat({ max: 9 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(role, id, epoch)),
        fc.array(id),
        fc.infiniteStream(fc.oneof(id, fc.integer({ min: 1, max: most }))),
        (sockets, memories, draws) => {
          const unix = sockets.map(([name, base, offset]) => socket(name, base * 10 + offset)).join('');
          const shared = memories.map((base) => sharedMemoryOf(base).slice('/dev/shm/'.length));
          const found = freeBaseId(unix, shared, () => ((draws.next().value as number) - 0.5) / most);
          expect(sockets.map(([, base]) => base)).not.toContain(found);
          expect(memories).not.toContain(found);
          expect(found * 10 + 9).toBeLessThan(2 ** 32);
        },
      ),
    );
  });

  it.each([
    { random: 0, id: 1 },
    { random: 1 - Number.EPSILON, id: most },
  ])('is $id at the end of what can be drawn', ({ random, id }) => {
    expect(freeBaseId('', [], () => random)).toBe(id);
  });

  it('belongs to shared memory that is named by ten times the id', () => {
    expect(sharedMemoryOf(42)).toBe('/dev/shm/envoy_shared_memory_420');
  });
});
