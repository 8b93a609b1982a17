import { exitCodes, Fatal } from '../run/exit.ts';
import { version } from '../run/version.ts';

/**
 * Prints the version: the number, one line, or with `output` the shape of the Go agent's `version`.
 */
export function printVersion({ short, output }: { readonly short?: boolean; readonly output?: string }): void {
  const info = { version, node_version: process.version };
  if (short === true) console.log(version);
  else if (output === undefined) console.log(`pilot-agent ${version} (Node ${process.version})`);
  else if (output === 'json') console.log(JSON.stringify({ clientVersion: info }, undefined, 2));
  else if (output === 'yaml')
    console.log(`clientVersion:\n${Object.entries(info).map(([key, value]) => `  ${key}: ${value}`).join('\n')}`); // prettier-ignore
  else throw new Fatal("--output must be 'yaml' or 'json'", exitCodes.usage);
}
