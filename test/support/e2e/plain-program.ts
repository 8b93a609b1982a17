import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const imports = {
  'plain.mjs': `
    import { readFile } from 'node:fs/promises';
    import { pilotAgent, source } from 'pilot-agent';`,
  'plain.cjs': `
    const { readFile } = require('node:fs/promises');
    const { pilotAgent, source } = require('pilot-agent');`,
};

/** A source of the program: a file. Each content of the file is a reading. */
export interface PlainSource {
  readonly name: string;
  readonly path: string;
  readonly as: string;
  readonly at?: string;
}

/** Returns the environment variable that contains the sources of the program. */
export function sourcesOf(...sources: readonly PlainSource[]): NodeJS.ProcessEnv {
  return { PLAIN_SOURCES: JSON.stringify(sources) };
}

/**
 * Writes programs that use the installed package into a project, in JavaScript that each Node runs.
 * Each is an agent with the command line of `pilot-agent` and further sources. Its log has the form
 * of a log file.
 */
export function writePlainPrograms(folder: string): Readonly<Record<keyof typeof imports, string>> {
  const written = Object.entries(imports).map(([name, text]) => {
    const path = join(folder, name);
    writeFileSync(path, `${text}\n${program}`);
    return [name, path] as const;
  });
  return Object.fromEntries(written) as Record<keyof typeof imports, string>;
}

const program = `
  const [, role, ...flags] = process.argv.slice(2);
  const config = { role };
  for (let next = 0; next < flags.length; next += 2) config[flags[next].slice(2)] = flags[next + 1];
  const end = new AbortController();
  process.once('SIGTERM', () => end.abort());
  pilotAgent({
    config,
    sources: JSON.parse(process.env.PLAIN_SOURCES ?? '[]').map(({ name, path, ...options }) =>
      source(name, async () => (options.as === 'secret' ? JSON.parse : String)(await readFile(path, 'utf8')), {
        ...options,
        watch: [path],
      }),
    ),
    log: ({ level, ...line }) => console.log(JSON.stringify({ level, ...line })),
  })
    .run({ signal: end.signal })
    .catch((error) => {
      console.error(error);
      process.exitCode = 1;
    });
`;
