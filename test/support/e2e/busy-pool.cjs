// Is loaded into an agent before the agent's own code. It fills the agent's thread pool at SIGUSR2,
// and also at once if $BUSY_AT_ONCE is set. If $BUSY_FIFO names a FIFO, it first opens the FIFO
// $BUSY_FILES times (default 4); each open waits for a writer. Then four look-ups of names follow.
const { lookup } = require('node:dns');
const { open } = require('node:fs');
const ignore = () => undefined;
const { BUSY_FIFO: fifo, BUSY_AT_ONCE: atOnce, BUSY_FILES: files = '4' } = process.env;

function fill() {
  if (fifo !== undefined)
    for (let number = 0; number < Number(files); number += 1) open(fifo, 'r', ignore);
  for (let number = 0; number < 4; number += 1) lookup(`host-${number}.example`, ignore);
}

process.on('SIGUSR2', fill);
if (atOnce !== undefined) fill();
