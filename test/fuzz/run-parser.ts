/**
 * `node --import tsx test/fuzz/run-parser.ts NAME SECONDS SEED` sends inputs to one parser. It is a
 * process of its own: an abort, which no `catch` sees, ends no other process.
 */
import * as fc from 'fast-check';
import { parsers } from './parsers.ts';

const [, , name = '', seconds = '60', seed = '1'] = process.argv;
const parser = parsers.find((candidate) => candidate.name === name);
if (parser === undefined) throw new Error(`there is no parser ${name}`);

const options = {
  seed: Number(seed),
  numRuns: Infinity,
  interruptAfterTimeLimit: Number(seconds) * 1_000,
  markInterruptAsFailure: false,
};
const details = await fc.check(parser.takesAll, options);
console.log(
  JSON.stringify({
    runs: details.numRuns,
    ...(details.failed && { failure: fc.defaultReportMessage(details) }),
  }),
);
