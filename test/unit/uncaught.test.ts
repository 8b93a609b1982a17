import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { uncaught } from '../../src/streams/uncaught.ts';

const event = 'uncaughtException';

it('emits what nobody has caught, to each who listens', () => {
  const process = new EventEmitter();
  const seen: unknown[] = [];
  const subscriptions = [1, 2].map((n) =>
    uncaught(process).subscribe({ next: (error) => seen.push([n, error]), error: expect.unreachable }),
  );
  process.emit(event, 'no', event);
  expect(seen).toEqual([
    [1, 'no'],
    [2, 'no'],
  ]);
  for (const subscription of subscriptions) subscription.unsubscribe();
});

it('takes no notice before it is subscribed, and holds off the end of the process afterwards', () => {
  const process = new EventEmitter();
  const error$ = uncaught(process);
  expect(process.listenerCount(event)).toBe(0);
  for (let times = 0; times < 3; times++) error$.subscribe({ error: expect.unreachable }).unsubscribe();
  expect(process.listenerCount(event)).toBe(1);
});
