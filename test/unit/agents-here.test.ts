import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type AgentHere, agentsHere } from '../../src/run/agents-here.ts';

const children: ChildProcess[] = [];
afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));

const folder = `/agents-here-test-${process.pid}`;
/** Of this test: others may run on this machine. */
const found = async () => (await agentsHere()).filter(({ configPath }) => configPath.startsWith(folder));
const about = (configPath: string): AgentHere => ({ pid: 7, version: '1', configPath, statusPort: 1, proxyAdminPort: 2, healthPort: 3 });

async function agent(configPath: string): Promise<ChildProcess> {
  const code = `const { tellOf } = await import('./src/run/agents-here.ts');
    tellOf(${JSON.stringify(about(configPath))});
    setInterval(() => undefined, 1000);
    setTimeout(() => console.log('told'), 50);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

it('an agent is found while it lives, with what it tells', { timeout: 30_000 }, async () => {
  const [first, second] = [await agent(`${folder}/a`), await agent(`${folder}/b`)];
  expect(await found()).toEqual(expect.arrayContaining([about(`${folder}/a`), about(`${folder}/b`)]));
  first.kill('SIGKILL');
  await once(first, 'exit');
  expect(await found()).toEqual([about(`${folder}/b`)]);
  second.kill('SIGSTOP'); // it takes connections, and does not answer
  expect(await found()).toEqual([]);
});

it.each([
  ['no JSON', 'hello'],
  ['something else', '{"pid":1}'],
  ['what would write to a terminal', JSON.stringify(about(`${folder}\u001b[2J`))],
])('who answers with %s is no agent', async (_, answer) => {
  const name = `pilot-agent/${'0'.repeat(16)}`.padEnd(107, '-');
  const server = createServer((socket) => socket.on('error', () => undefined).end(answer)).listen(`\0${name}`);
  await once(server, 'listening');
  expect(await found()).toEqual([]);
  server.close();
});
