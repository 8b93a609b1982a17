import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type AgentHere, agentsHere } from '../../../../../src/pilot-agent/run/end/agents-here.ts';
import { leftOut } from '../../../../support/left-out.ts';

let folder: string;
const children: ChildProcess[] = [];
const servers: Server[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-agent-here-'));
  chmodSync(folder, 0o755);
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const server of servers.splice(0)) server.close();
  rmSync(folder, { recursive: true });
});

/** Returns the agents of this test; others may run on this machine. */
const agentsOfTest = async () =>
  (await agentsHere()).filter(({ configPath }) => configPath.includes(folder));
const about = (configPath: string): AgentHere => ({
  pid: 7,
  version: '1',
  configPath,
  statusPort: 1,
  proxyAdminPort: 2,
  healthPort: 3,
});

/** Starts an agent that holds a folder and announces itself. */
async function agent(
  configPath: string,
  uid?: number,
  answer: AgentHere = about(configPath),
): Promise<ChildProcess> {
  mkdirSync(configPath, { recursive: true });
  chmodSync(configPath, 0o777);
  const code = `const { announceFolder } = await import(${JSON.stringify(resolve('src/pilot-agent/run/end/agents-here.ts'))});
    const { lockFolder } = await import(${JSON.stringify(resolve('src/pilot-agent/run/start/folder-lock.ts'))});
    ${uid === undefined ? '' : `process.seteuid(${uid});`}
    await lockFolder(${JSON.stringify(configPath)}, '1', { agent: ${JSON.stringify(answer)} });
    announceFolder(${JSON.stringify(about(configPath))});
    setInterval(() => undefined, 1000);
    setTimeout(() => console.log('told'), 50);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

/** Announces a text, as any program in the same network namespace can. */
async function claims(text: string): Promise<void> {
  const name = `pilot-agent/${Math.random().toString(16).slice(2, 10).padEnd(16, '0')}`.padEnd(
    107,
    '-',
  );
  const server = createServer((socket) => socket.on('error', () => undefined).end(text)).listen(
    `\0${name}`,
  );
  servers.push(server);
  await once(server, 'listening');
}

it('an agent is found while it lives, with what it tells', async () => {
  const [first, second] = [await agent(`${folder}/a`), await agent(`${folder}/b`)];
  expect(await agentsOfTest()).toEqual(
    expect.arrayContaining([about(`${folder}/a`), about(`${folder}/b`)]),
  );
  first.kill('SIGKILL');
  await once(first, 'exit');
  expect(await agentsOfTest()).toEqual([about(`${folder}/b`)]);
  second.kill('SIGSTOP'); // it accepts connections, but does not answer
  expect(await agentsOfTest()).toEqual([]);
});

it('an agent is found in a folder with a long path', async () => {
  const long = join(folder, 'x'.repeat(120));
  await agent(long);
  expect(await agentsOfTest()).toEqual([about(long)]);
});

it('an agent that would write to a terminal is none', async () => {
  const answer = { ...about(`${folder}/a`), version: '\u001b[2J' };
  await agent(`${folder}/a`, undefined, answer);
  await agent(`${folder}/b`);
  expect(await agentsOfTest()).toEqual([about(`${folder}/b`)]);
});

it.each([
  ['no JSON', () => 'hello'],
  ['something else', () => '{"pid":1}'],
  ['without end', () => 'x'.repeat(1_000_000)],
  ['a folder where nobody is', () => JSON.stringify(about(folder))],
  ['a folder that is none', () => JSON.stringify(about('/dev/null'))],
  ['what would write to a terminal', () => JSON.stringify(about(`${folder}\u001b[2J`))],
])('who claims %s is not an agent', async (_, claim) => {
  await claims(claim());
  expect(await agentsOfTest()).toEqual([]);
});

it('who claims to be an agent is not heard of its ports: the holder of the folder is', async () => {
  await agent(`${folder}/a`);
  await claims(JSON.stringify({ ...about(`${folder}/a`), statusPort: 666 }));
  await claims(JSON.stringify({ ...about(`${folder}/fake`), statusPort: 666 }));
  expect(await agentsOfTest()).toEqual([about(`${folder}/a`)]);
});

const isRoot = process.getuid?.() === 0;
if (!isRoot) leftOut('an agent of another user beside one’s own (needs root)');
it.skipIf(!isRoot)('an agent of another user is none beside one’s own', async () => {
  await agent(`${folder}/other`, 65_534);
  await agent(`${folder}/own`);
  expect(await agentsOfTest()).toEqual([about(`${folder}/own`)]);
});
