/**
 * The flags of Node and V8 that are built into the executable. Nothing from outside adds to them,
 * neither NODE_OPTIONS nor the command line. V8's code caches are made with them.
 *
 * With less room for new objects the agent takes less memory under load, and starts as fast
 * (`npm run bench -- levers`). With 1 MB it takes more: what is in use for a moment gets old.
 *
 * No flag that V8 makes code by, such as `--no-maglev`: with one it refuses the code cache of
 * Node's own modules, which is built into Node, and each start takes 14 to 20 ms more. The scrapes
 * set theirs when the first one comes.
 *
 * Not `--disable-sigusr1`: Node 24 then blocks the signal, and the agent, which reopens its log
 * files at it, never gets it. The launcher has a listener from its first line on.
 */
export const execArgv = ['--max-semi-space-size=2'];

/** Where the Node that becomes the executable of a CPU is installed: its npm package. Pure. */
export const nodePackage = (cpu) => `scripts/package-nodes/${cpu}/node_modules/node-linux-${cpu}`;
