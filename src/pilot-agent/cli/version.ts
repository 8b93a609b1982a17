import { version } from '../../shared/program/version.ts';

export interface VersionOptions {
  /** Only the number, whatever the output. */
  readonly short?: boolean;
  /** The format of the Go agent's `version`. If left out: one line. */
  readonly output?: 'yaml' | 'json';
}

export function printVersion({ short, output }: VersionOptions): void {
  const info = { version, node_version: process.version };
  if (short === true) console.log(version);
  else if (output === undefined) console.log(`pilot-agent ${version} (Node ${process.version})`);
  else if (output === 'json') console.log(JSON.stringify({ clientVersion: info }, undefined, 2));
  else
    console.log(
      `clientVersion:\n${Object.entries(info)
        .map(([key, value]) => `  ${key}: ${value}`)
        .join('\n')}`,
    );
}
