import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { boundedConnections } from '../../../../src/pilot-discovery/run/bounded-connections.ts';

class FakeSocket extends EventEmitter {
  readonly remoteAddress = '10.0.0.1';
  readonly remotePort: number;
  constructor(port: number) {
    super();
    this.remotePort = port;
  }
  destroy(): void {
    this.emit('close');
  }
}

function newConnections(most: number, silent = most) {
  const scheduler = new VirtualTimeScheduler();
  const [admitted, closings]: [number[], string[]] = [[], []];
  const connections = boundedConnections(
    { most, silence: { longest: 10_000, most: silent } },
    (address, reason) => closings.push(`${scheduler.now()} ${address} ${reason}`),
    scheduler,
  );
  const add = (port: number) => {
    const socket = new FakeSocket(port);
    connections.add(socket as unknown as Socket, ({ remotePort = 0 }) => admitted.push(remotePort));
    return socket;
  };
  return {
    add,
    noteServed: (port: number) => connections.noteServed(`10.0.0.1:${port}`),
    cut: (port: number) => connections.cut(`10.0.0.1:${port}`),
    admitted,
    closings,
    scheduler,
  };
}

describe('boundedConnections', () => {
  it('closes a connection on which nothing is asked for within 10 s, and no other', () => {
    const { add, noteServed, closings, scheduler } = newConnections(3);
    add(1);
    add(2);
    noteServed(2);
    scheduler.flush();
    expect(closings).toEqual([
      '10000 10.0.0.1:1 nothing was asked for on the connection within 10 s',
    ]);
  });

  it('closes the oldest that has asked for nothing if there are too many', () => {
    const { add, noteServed, admitted, closings } = newConnections(2);
    add(1);
    noteServed(1);
    add(2);
    add(3);
    expect(closings).toEqual(['0 10.0.0.1:2 2 connections are open, which is the limit']);
    expect(admitted).toEqual([1, 2, 3]);
  });

  it('closes the oldest of too many that have asked for nothing', () => {
    const { add, noteServed, closings } = newConnections(9, 2);
    add(1);
    noteServed(1);
    add(2);
    add(3);
    expect(closings).toEqual([]);
    add(4);
    expect(closings).toEqual([
      '0 10.0.0.1:2 nothing was asked for on the connection, and 2 have come since',
    ]);
  });

  it('closes the new one if all others have asked, and takes others once one has gone', () => {
    const { add, noteServed, admitted, closings } = newConnections(2);
    const first = add(1);
    noteServed(1);
    add(2);
    noteServed(2);
    add(3);
    expect(closings).toEqual(['0 10.0.0.1:3 2 connections are open, which is the limit']);
    first.destroy();
    add(4);
    expect(admitted).toEqual([1, 2, 4]);
    expect(closings).toHaveLength(1);
  });

  it('closes the connection of a client that is cut, and no other', () => {
    const { add, noteServed, cut, admitted } = newConnections(2);
    const closed: number[] = [];
    for (const port of [1, 2]) {
      add(port).once('close', () => closed.push(port));
      noteServed(port);
    }
    cut(2);
    cut(3);
    expect(closed).toEqual([2]);
    add(4);
    expect(admitted).toEqual([1, 2, 4]);
  });

  it('reads what has come while the program was busy, before it closes a connection', () => {
    const { add, noteServed, closings, scheduler } = newConnections(3);
    scheduler.schedule(() => noteServed(1), 10_000);
    add(1);
    add(2);
    scheduler.flush();
    expect(closings).toEqual([
      '10000 10.0.0.1:2 nothing was asked for on the connection within 10 s',
    ]);
  });
});
