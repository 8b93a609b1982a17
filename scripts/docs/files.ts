import { code, list, page, paragraph, section, table } from './markdown.ts';

interface File {
  /** `N` is the number of an epoch, `B` a base id. */
  readonly names: readonly string[];
  readonly when: string;
  readonly text: string;
}

/** What the agent writes into `--configPath`. */
export const files: readonly File[] = [
  {
    names: ['envoy-admin-address'],
    when: 'An Envoy runs',
    text: 'Envoy writes its admin address into it',
  },
  {
    names: ['agent-*.lock'],
    when: 'The agent runs',
    text: 'Socket on which the agent says that it has the folder',
  },
  {
    names: ['SDS'],
    when: 'Secrets are served',
    text: 'Socket. One that a dead agent has left is replaced',
  },
  {
    names: ['XDS'],
    when: 'Envoy takes its configuration from the agent',
    text: 'Socket. One that a dead agent has left is replaced too',
  },
  {
    names: ['xds-store'],
    when: 'The same',
    text: 'The last good configuration, for a restart while the control plane is away. It stays',
  },
  {
    names: ['envoy-revN.json', 'envoy-revN.yaml'],
    when: 'Epoch N runs',
    text: 'Its bootstrap: generated, or with an override in it',
  },
  {
    names: ['envoy-B'],
    when: 'An Envoy of base id B runs',
    text: 'Folder for the sockets by which the Envoys of a hot restart meet',
  },
  { names: ['envoy-revN.stderr'], when: 'Epoch N starts', text: "FIFO for Envoy's stderr" },
  {
    names: ['envoy-check.json', 'envoy-check.yaml'],
    when: 'A check runs',
    text: 'The bootstrap that is checked',
  },
  { names: ['envoy-check.stderr'], when: 'A check runs', text: 'FIFO for the stderr of the check' },
  { names: ['envoy-ahead.*'], when: 'A window is open', text: 'The same, of a check ahead' },
  {
    names: ['envoy-admin-address-N', 'envoy-admin-address-former'],
    when: 'Two Envoys run side by side',
    text: 'Admin address of the other one',
  },
  {
    names: ['envoy-beside-N.json'],
    when: 'Epoch N runs beside another',
    text: 'Its configuration',
  },
  { names: ['status'], when: 'Always', text: 'Unix socket of `status` and `top`' },
  {
    names: ['ended.json'],
    when: 'No agent runs',
    text: 'When, how and why the last one has ended. The next one removes it',
  },
  {
    names: ['profile-token'],
    when: '`--profiling`',
    text: 'What a request for a profile has to bring',
  },
  {
    names: ['envoy-kept.json'],
    when: '`--keepEnvoy`',
    text: 'Which Envoys run, for the next agent',
  },
  { names: ['envoy.log'], when: '`--keepEnvoy`', text: 'The log of Envoy. It stays' },
  {
    names: ['envoy-revN-B.exit'],
    when: '`--keepEnvoy`',
    text: 'For a moment: how the Envoy of epoch N and base id B ended',
  },
];

export function filesPage(): string {
  return page(
    'Files',
    paragraph(
      'The agent writes into the folder of `--configPath` and, if it installs an Envoy, into its cache. If a path is not there, the agent makes it.',
    ),
    table(
      ['File', 'While', 'What it is'],
      files.map(({ names, when, text }) => [names.map(code).join(', '), when, text]),
    ),
    list([
      'The folder is made with mode 0700. The root file system can be read-only; this folder cannot.',
      'The files, sockets and FIFOs that the agent makes have mode 0600. A bootstrap is written as a whole.',
      'An agent that has ended leaves `ended.json`, and what the table says stays. One that was killed leaves its sockets instead.',
      'The name of a FIFO is removed before Envoy starts.',
      '`envoy-beside-N.json`: the clusters that lead to the admin endpoint lead to that of epoch N.',
      '`envoy-B` has mode 0700. If its path would have more than 85 bytes, or the disk has no room for it, it is `pilot-agent-*` in the folder for temporary files (`TMPDIR`), or else in `/dev/shm`.',
      "Envoy's shared memory, `/dev/shm/envoy_shared_memory_*`, is removed after the last epoch of a base id.",
      '`/dev/shm/pilot-agent-B-*` is a socket by which the agent reserves base id B. The next agent removes what a dead one has left.',
      '`envoy-kept.json` counts only if its owner is the user of the agent and nobody else can read or write it.',
    ]),
    section(
      'One agent for a folder',
      paragraph(
        'The agent that has the folder listens on a socket in it. A second agent asks there, and ends with [69](exit-codes.md#69) and the answer: which process, ' +
          'which version, since when. The files of the first agent stay as they are.',
      ),
      list([
        'The socket of an agent that has died answers nobody: the next agent has the folder at once.',
        'An agent that is stopped, or too busy to answer within a second, still has the folder.',
        'So has an agent of another user, whose socket cannot be asked. If that agent has died, remove its `agent-*.lock`.',
        'On a disk that has no room for a socket an agent runs without one, and warns.',
      ]),
    ),
  );
}
