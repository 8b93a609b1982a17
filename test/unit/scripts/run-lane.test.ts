import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { runLane, type Stage } from '../../../scripts/check/stage.ts';

const stage = (name: string, script: string): Stage => ({
  name,
  command: ['sh', '-c', script],
  again: `npm run ${name}`,
  output: 'if it fails',
});

it('a lane goes on after a stage that fails, and says so at once', async () => {
  const order: string[] = [];
  const stop = new AbortController();
  const outcomes = await runLane([stage('one', 'exit 3'), stage('two', 'echo good')], {
    stop: stop.signal,
    onFailure: () => order.push('failure'),
  });
  expect(outcomes.map(({ code, text }) => [code, text])).toEqual([
    [3, ''],
    [0, 'good\n'],
  ]);
  expect(order).toEqual(['failure']);
});

it('a lane that is stopped ends the programs of its stage, also those in other sessions, and begins no other', async () => {
  const stop = new AbortController();
  const mark = `86399.${process.pid}`;
  const running = runLane([stage('one', `setsid sleep ${mark} & wait`), stage('two', 'true')], {
    stop: stop.signal,
  });
  const sleepers = () => spawnSync('pgrep', ['-f', `^sleep ${mark}`]).stdout.toString();
  await expect.poll(sleepers).not.toBe('');
  stop.abort();
  expect(await running).toEqual([]);
  await expect.poll(sleepers).toBe('');
});
