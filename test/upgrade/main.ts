import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { upgradeUnderLoad } from '../support/e2e/upgrade-under-load.ts';

const [earlier] = process.argv.slice(2);
if (earlier === undefined)
  throw new Error('npm run test:upgrade -- COMMIT: name the commit of the agent to upgrade from');
const requests = 1_000;

const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-earlier-'));
const run = (file: string, ...args: readonly string[]) =>
  execFileSync(file, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
try {
  const archive = join(folder, 'earlier.tar');
  execFileSync('git', ['archive', '--output', archive, earlier]);
  run('tar', '--extract', '--file', archive);
  run('npm', 'ci', '--silent');
  run(process.execPath, 'scripts/build.mjs');
  const [before, now] = [join(folder, 'dist/pilot-agent.cjs'), resolve('dist/pilot-agent.cjs')];
  // Each agent runs the Envoy that its own commit has pinned.
  for (const program of [before, now]) run(process.execPath, program, 'envoy', 'install');

  const { agents, loads } = await upgradeUnderLoad([before, now, before], requests);
  for (const [index, name] of [earlier, 'now', earlier].entries()) {
    const { adopted = 'nothing', left, warned = [] } = agents[index] ?? {};
    console.log(
      `${name}: took over ${adopted}, left ${left}, warned of ${warned.length === 0 ? 'nothing' : warned.join(', ')}`,
    );
  }
  const sum = (countOf: (load: (typeof loads)[number]) => number) =>
    loads.reduce((all, load) => all + countOf(load), 0);
  const failed = sum((load) => load.failed);
  console.log(
    `${sum(({ ok }) => ok)} requests answered, ${failed} failed, ${sum(({ retried }) => retried)} sent once more`,
  );
  console.log(
    `the slowest took ${Math.round(Math.max(...loads.map(({ slowest }) => slowest)))} ms`,
  );
  const isTakenOver = agents.every(({ adopted }, index) => adopted === agents[index - 1]?.left);
  if (failed > 0 || !isTakenOver) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
