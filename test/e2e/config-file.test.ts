import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { program } from '../support/e2e/program.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

describe('an agent with a configuration file', () => {
  let rig: Rig;
  let file: string;
  beforeEach(async () => {
    rig = await makeRig();
    file = join(rig.folder, 'agent.yaml');
  });
  afterEach(() => rig.dispose());

  it('starts a new epoch when the file says another bootstrap, keeps what is its own, and refuses a mistake', async () => {
    const write = (owner: string, more = '') =>
      writeFileSync(
        file,
        `# read by the agent\nxdsProxy: false\nenvironment: {ISTIO_META_OWNER: ${owner}}\n${more}`,
      );
    write('first');
    const agent = rig.start(['--config', file, '--log_output_level', 'default:debug'], {
      generated: true,
    });
    await agent.said('epoch.started', 0);

    write('second', 'keepEnvoy: true\n');
    await agent.said('epoch.started', 1);
    expect(await agent.said('config.changed')).toMatchObject({
      changed: ['configuration metadataVariables'],
    });
    expect(await agent.said('config.warning')).toMatchObject({
      warning: 'keepEnvoy: the change takes effect when the agent is restarted',
    });

    write('third', 'minDelai: 1s\n');
    expect(await agent.said('config.refused')).toMatchObject({
      reason: `config file ${file}: minDelai: is not known: did you mean minDelay?`,
    });
    write('second');
    await agent.said('config.refusal_ended');
    agent.kill('SIGTERM');
    expect(await agent.exit).toEqual({ code: 0, signal: null });
    expect(agent.log().filter(({ event }) => event === 'epoch.started')).toHaveLength(2);
  });

  it('does not start with a mistake in the file: one line says all of them, which config check says by line and column', async () => {
    writeFileSync(
      file,
      'minDelai: 1s\nsources: [{kind: http, name: a, url: "ftp://user:hush@host"}]\n',
    );
    const agent = rig.start(['--config', file]);
    expect(await agent.exit).toEqual({ code: 78, signal: null });
    const [first, second] = [
      'minDelai: is not known: did you mean minDelay?',
      'sources[0].url: is not an http or https URL',
    ];
    expect(`${agent.output()}${agent.errors()}`).toContain(
      `config file ${file}: ${first}; config file ${file}: ${second}`,
    );
    expect(`${agent.output()}${agent.errors()}`).not.toContain('hush');

    const check = spawnSync(program[0], [...program.slice(1), 'config', 'check', file], {
      encoding: 'utf8',
    });
    expect(check).toMatchObject({
      status: 78,
      stdout: `${file}:1:1: ${first}\n${file}:2:38: ${second}\n`,
    });
  });
});
