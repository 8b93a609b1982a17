/**
 * The flags of Node and V8 that are built into the executable. NODE_OPTIONS and the command line
 * cannot add flags. V8's code caches are made with them.
 *
 * With less room for new objects the agent uses less memory under load, and starts as fast (`npm
 * run bench -- levers`). With 1 MB it uses more, because V8 moves short-lived objects to the old
 * space.
 *
 * No flag that affects compilation is here, such as `--no-maglev`. With such a flag V8 rejects the
 * code cache of Node's own modules, which is built into Node, and each start takes 14 to 20 ms
 * more. Scrapes set such flags at the first scrape.
 *
 * `--disable-sigusr1` is not here. With it, Node 24 blocks the signal, so the agent would never get
 * it and could not reopen its log files. The launcher listens for the signal from its first line.
 */
export const execArgv = ['--max-semi-space-size=2'];

/** The npm package of the Node that becomes the executable for a CPU. Pure. */
export const nodePackage = (cpu) => `scripts/package-nodes/${cpu}/node_modules/node-linux-${cpu}`;
