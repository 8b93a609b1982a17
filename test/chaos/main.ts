import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runChaos } from './run-chaos.ts';

const { values } = parseArgs({ options: { seed: { type: 'string' }, minutes: { type: 'string' }, events: { type: 'string' } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
const minutes = Number(values.minutes ?? (values.events === undefined ? 5 : Infinity));
const events = Number(values.events ?? Infinity);
if ([seed, minutes, events].some(Number.isNaN)) {
  console.error('usage: npm run chaos -- [--seed N] [--minutes M] [--events N]');
  process.exit(64);
}
console.log(`seed ${seed}`);
const { violations, log, ...figures } = await runChaos({ seed, events, duration: minutes * 60_000, onEvent: (text) => console.log(text) });
console.log(figures);
if (violations.length > 0) {
  const file = join(tmpdir(), `pilot-agent-chaos-${seed}.log`);
  writeFileSync(file, log);
  console.error(`seed ${seed}:\n${violations.join('\n')}\nwhat the agents wrote: ${file}`);
  process.exitCode = 1;
}
