import { isDeepStrictEqual } from 'node:util';
import { runSoak } from './run-soak.ts';

const rotations = Number(process.argv[2] ?? 300);
const first = Math.min(50, Math.floor(rotations / 2));
/** In bytes: the difference between two measurements of a heap of 20 MB. */
const slack = 1 << 20;

const [before, after] = await runSoak(first, rotations, (rotation) => {
  if (rotation % 10 === 0) console.error(`${rotation} of ${rotations}`);
});
console.log(before);
console.log(after);
const grown = [
  ...(after.heap > before.heap + slack ? ['the heap'] : []),
  ...(after.files === before.files ? [] : ['open files']),
  ...(isDeepStrictEqual(after.resources, before.resources) ? [] : ['handles and timers']),
];
console.log(grown.length === 0 ? 'nothing has grown' : `not as before: ${grown.join(', ')}`);
if (grown.length > 0) process.exitCode = 1;
