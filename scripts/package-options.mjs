/**
 * The flags of Node and V8 that are built into the executable. Nothing from outside adds to them,
 * neither NODE_OPTIONS nor the command line. V8's code caches are made with them.
 *
 * With less room for new objects the agent takes less memory under load, and starts as fast
 * (`npm run bench -- levers`). With 1 MB it takes more: what is in use for a moment gets old.
 * The Maglev compiler leaves malloc with memory that it does not give back.
 *
 * Not `--disable-sigusr1`: Node 24 then blocks the signal, and the agent, which reopens its log
 * files at it, never gets it. The launcher has a listener from its first line on.
 */
export const execArgv = ['--max-semi-space-size=2', '--no-maglev'];
