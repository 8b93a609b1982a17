import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { holderName, portHolder, portHolders } from '../../../../src/shared/program/port-holder.ts';

async function listen(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const thisProcess = expect.objectContaining({ pid: process.pid }) as unknown;

describe('portHolder', () => {
  it('names the process that listens, and its program, without other arguments', async () => {
    const program =
      "const s = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log(s.address().port));";
    const child = spawn(process.execPath, ['-e', program, '--', '--token=secret'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill());
    const [output] = (await once(child.stdout, 'data')) as [Buffer];
    const holder = portHolder(Number(output.toString()));
    expect(holder).toEqual({
      address: '127.0.0.1',
      uid: process.getuid?.(),
      process: { pid: child.pid, command: 'node' },
    });
    expect(holder && holderName(holder)).toBe(`process ${child.pid ?? ''} (node)`);
  });

  it.each([
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '0.0.0.0', true],
    ['127.0.0.1', '', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['0.0.0.0', '127.0.0.2', true],
    ['0.0.0.0', '::1', false],
    ['::', '127.0.0.2', true],
    ['::', '::1', true],
    ['::1', '::1', true],
    ['::1', '127.0.0.1', false],
    ['::ffff:127.0.0.1', '127.0.0.1', true],
  ])('who listens on %s stands in the way of %s: %s', async (address, host, isInTheWay) => {
    expect(portHolder(await listen(address), host)?.process).toEqual(
      isInTheWay ? thisProcess : undefined,
    );
  });

  it('nobody holds a port on which nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(portHolder(port)).toBeUndefined();
  });
});

describe('portHolders', () => {
  it('has a process once that listens on two addresses', async () => {
    const port = await listen('127.0.0.1');
    const second = createServer().listen(port, '127.0.0.2');
    onTestFinished(() => void second.close());
    await once(second, 'listening');
    expect(portHolders(port).map((holder) => holder.process)).toEqual([thisProcess]);
  });
});

describe('holderName', () => {
  it('says where one that cannot be seen may be', () => {
    expect(holderName({ address: '0.0.0.0', uid: 1337 })).toMatch(
      /^a process of user 1337 .* in another container$/,
    );
  });
});
