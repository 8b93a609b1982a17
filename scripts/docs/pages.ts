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
  ['commands.md', 'Commands of `pilot-agent`, with examples and flags', commandsPage],
  ['flags.md', 'Flags of `proxy`, by group', flagsPage],
  ['environment.md', 'Environment variables', environmentPage],
  ['go-agents.md', 'All flags and variables of the Go agents, and their effect here', goAgentsPage],
  [
    'layers.md',
    'Layers of the configuration; fields of a ProxyConfig and of a configuration file',
    layersPage,
  ],
  [
    'http.md',
    'Status port: paths, reasons for not being ready, probes of the application',
    httpPage,
  ],
  ['metrics.md', 'Metrics of the agent, and the merge with others', metricsPage],
  ['log-events.md', 'Fields of a line of the log, and codes of all events', logPage],
  ['exit-codes.md', 'Exit codes and their causes', exitCodesPage],
  ['signals.md', 'Signals and their effects', signalsPage],
  ['files.md', 'Files in the folder of the agent', filesPage],
  [
    'pilot-discovery.md',
    'Control plane: commands, flags, variables, paths, limits, metrics',
    discoveryPage,
  ],
];

/** The pages of the reference, by the names of their files. */
export function pages(): ReadonlyMap<string, string> {
  const index = page(
    'Reference',
    paragraph(
      'These pages are generated from the code and its schema. A test compares them with the code, and tries each example.',
    ),
    table(
      ['Page', 'Content'],
      subjects.map(([file, what]) => [`[${file.replace('.md', '')}](${file})`, what]),
    ),
  );
  return new Map([
    ['README.md', index],
    ...subjects.map(([file, , make]) => [file, make()] as const),
  ]);
}
