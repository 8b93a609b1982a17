'use strict';
/** On SIGUSR2: what is in use after a collection of garbage, in bytes, as a line of stderr. */
const { gc } = globalThis;
process.on('SIGUSR2', async () => {
  for (let round = 0; round < 3; round += 1) {
    gc();
    await new Promise((done) => setTimeout(done, 20));
  }
  const { heapUsed, external } = process.memoryUsage();
  process.stderr.write(`in use: ${heapUsed + external}\n`);
});
