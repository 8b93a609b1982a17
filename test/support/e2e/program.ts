import { resolve } from 'node:path';

const executable = process.env['PILOT_AGENT_PROGRAM'];

/**
 * Whether the Node of the program loads the modules that NODE_OPTIONS names. An executable ignores
 * the variable.
 */
export const takesNodeOptions = executable === undefined;

/**
 * The command that starts the program, without its arguments: Node with the bundle, or an
 * executable.
 */
export const program: readonly [string, ...string[]] =
  executable === undefined
    ? [process.execPath, resolve('dist/pilot-agent.cjs')]
    : [resolve(executable)];
