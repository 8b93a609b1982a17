import { commandsPage } from './commands.ts';
import { discoveryPage } from './discovery.ts';
import { exitCodesPage } from './exit-codes.ts';
import { filesPage } from './files.ts';
import { flagsPage } from './flags.ts';
import { goAgentsPage } from './go-agents.ts';
import { httpPage } from './http.ts';
import { layersPage } from './layers.ts';
import { logPage } from './log.ts';
import { page, paragraph, table } from './markdown.ts';
import { metricsPage } from './metrics.ts';
import { signalsPage } from './signals.ts';
import { environmentPage } from './variables.ts';

export const folder = 'docs/reference';

const subjects: readonly (readonly [file: string, what: string, make: () => string])[] = [
  ['commands.md', 'What the program can do, and the flags of each command', commandsPage],
  ['flags.md', 'The flags of `proxy`, by group', flagsPage],
  ['environment.md', 'The environment variables that are read', environmentPage],
  [
    'go-agents.md',
    'All flags and variables of the Go agents, and what becomes of them',
    goAgentsPage,
  ],
  [
    'layers.md',
    'Where a value of the configuration comes from, and the fields of a ProxyConfig',
    layersPage,
  ],
  [
    'http.md',
    'The status port: endpoints, reasons for not being ready, probes of the application',
    httpPage,
  ],
  ['metrics.md', 'The metrics of the agent, and how it merges those of others', metricsPage],
  ['log-events.md', 'The fields of a line of the log, and the codes of all events', logPage],
  ['exit-codes.md', 'What each exit code means', exitCodesPage],
  ['signals.md', 'What each signal does', signalsPage],
  ['files.md', 'What the agent writes into its folder', filesPage],
  ['pilot-discovery.md', 'The control plane: flags, variables, paths, metrics', discoveryPage],
];

/** The pages of the reference, by the names of their files. */
export function pages(): ReadonlyMap<string, string> {
  const index = page(
    'Reference',
    paragraph(
      'These pages are made from the code and its schema. A test compares them with the code.',
    ),
    table(
      ['Page', 'What it has'],
      subjects.map(([file, what]) => [`[${file.replace('.md', '')}](${file})`, what]),
    ),
  );
  return new Map([
    ['README.md', index],
    ...subjects.map(([file, , make]) => [file, make()] as const),
  ]);
}
