import { load } from './load.ts';
import { profile } from './profile.ts';
import { sds } from './sds.ts';
import { start } from './start.ts';
import { status } from './status.ts';

const benches: Readonly<Record<string, (rounds?: number) => Promise<void>>> = { load, profile, sds, start, status };
const [name = '', rounds] = process.argv.slice(2);
const bench = benches[name];
if (bench === undefined) {
  console.error(`usage: npm run bench -- NAME [ROUNDS], with one of ${Object.keys(benches).join(', ')}`);
  process.exitCode = 64;
} else {
  await bench(rounds === undefined ? undefined : Number(rounds));
}
