// Loaded into an agent before its own code: its thread pool is full at SIGUSR2, and at once if
// $BUSY_AT_ONCE is set: with four files, or $BUSY_FILES, that cannot be opened before somebody
// writes to them, if $BUSY_FIFO names one, and four look-ups behind these.
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
