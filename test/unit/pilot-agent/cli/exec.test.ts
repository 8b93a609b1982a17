import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exec } from '../../../../src/pilot-agent/cli/exec.ts';

describe('exec', () => {
  let folder: string;
  let agent: Server;
  let requests: string[];
  /** The status codes that the agent answers, in order; then 200. */
  let answers: number[];
  /** The file that the command creates. */
  let ran: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pilot-agent-exec-'));
    [ran, requests, answers] = [join(folder, 'ran'), [], []];
    agent = createServer(({ method, url }, response) => {
      requests.push(`${method} ${url} ${existsSync(ran) ? 'after' : 'before'} the command`);
      response.writeHead(answers.shift() ?? 200).end();
    }).listen(0, '127.0.0.1');
    await once(agent, 'listening');
  });
  afterEach(() => {
    agent.close();
    agent.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  const run = (script: string) =>
    exec(['sh', '-c', script, 'sh', ran], {
      statusPort: String((agent.address() as AddressInfo).port),
      timeoutSeconds: '60',
    });
  const ready = 'GET /healthz/ready before the command';
  const quit = 'POST /quitquitquit after the command';

  it('runs the command when the agent is ready, then asks the agent to quit', async () => {
    answers = [503];
    await run('touch "$1"');
    expect(requests).toEqual([ready, ready, quit]);
  });

  it('asks the agent to quit after a command that failed too, and fails with its code', async () => {
    await expect(run('touch "$1"; exit 7')).rejects.toMatchObject({ code: 7 });
    expect(requests).toEqual([ready, quit]);
  });

  it.each(['0', '65536', '-1', 'x', ''])(
    'refuses %j as the port of the status server',
    async (port) => {
      const options = { statusPort: port, timeoutSeconds: '60' };
      await expect(exec(['true'], options)).rejects.toMatchObject({
        code: 64,
        message: `--statusPort: '${port}' is not a port (1 to 65535)`,
      });
      expect(requests).toEqual([]);
    },
  );

  it('says so if the agent does not quit', async () => {
    answers = [200, 500];
    await expect(run('touch "$1"')).rejects.toMatchObject({
      code: 0,
      message: 'the agent cannot be asked to quit: it answers 500',
    });
  });
});
