// An agent loads this file before its own code. On SIGUSR2 it writes its needs to a file, after a
// garbage collection.
const { renameSync, writeFileSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
let reports = 0;

process.on('SIGUSR2', () => {
  collect();
  const resources = {};
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  const file = process.env.SOAK_REPORT;
  writeFileSync(
    `${file}.new`,
    JSON.stringify({ report: ++reports, heap: process.memoryUsage().heapUsed, resources }),
  );
  renameSync(`${file}.new`, file);
});
