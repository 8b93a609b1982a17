import { resolve } from 'node:path';

const executable = process.env['PILOT_AGENT_PROGRAM'];

/** Whether the Node of the program loads what NODE_OPTIONS names. An executable refuses that. */
export const takesNodeOptions = executable === undefined;

/** What starts the program, without its arguments: the bundle, or an executable. */
export const program: readonly [string, ...string[]] =
  executable === undefined
    ? [process.execPath, resolve('dist/pilot-agent.cjs')]
    : [resolve(executable)];
