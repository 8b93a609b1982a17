import { code, list, page, paragraph, section, table } from './markdown.ts';

interface File {
  /** `N` is the number of an epoch, `B` a base id. */
  readonly names: readonly string[];
  readonly when: string;
  readonly text: string;
}

/** The files that the agent writes into `--configPath`. */
export const files: readonly File[] = [
  {
    names: ['envoy-admin-address'],
    when: 'An Envoy runs',
    text: 'Admin address, written by Envoy',
  },
  {
    names: ['agent-*.lock'],
    when: 'The agent runs',
    text: 'Socket of the agent that uses the folder',
  },
  {
    names: ['SDS'],
    when: 'The agent serves secrets',
    text: 'Socket for SDS. The socket of a dead agent is replaced',
  },
  {
    names: ['XDS'],
    when: 'The agent serves xDS',
    text: 'Socket for xDS. The socket of a dead agent is replaced',
  },
  {
    names: ['xds-store'],
    when: 'The agent serves xDS',
    text: 'Last good configuration, for a start without a control plane. It stays',
  },
  {
    names: ['envoy-revN.json', 'envoy-revN.yaml'],
    when: 'Epoch N runs',
    text: 'Bootstrap of the epoch, generated or merged with an override',
  },
  {
    names: ['envoy-B'],
    when: 'An Envoy of base id B runs',
    text: 'Folder for the sockets between the Envoys of a hot restart',
  },
  { names: ['envoy-revN.stderr'], when: 'Epoch N starts', text: "FIFO for Envoy's stderr" },
  {
    names: ['envoy-check.json', 'envoy-check.yaml'],
    when: 'A check runs',
    text: 'Bootstrap that Envoy checks',
  },
  { names: ['envoy-check.stderr'], when: 'A check runs', text: 'FIFO for the stderr of the check' },
  {
    names: ['envoy-ahead.*'],
    when: 'The agent waits for `--minDelay`',
    text: 'Files of a check that begins before that time is over',
  },
  {
    names: ['envoy-admin-address-N', 'envoy-admin-address-former'],
    when: 'Two Envoys run side by side',
    text: 'Address of the other Envoy',
  },
  {
    names: ['envoy-beside-N.json'],
    when: 'Epoch N runs beside another',
    text: 'Configuration of the epoch',
  },
  { names: ['status'], when: 'The agent runs', text: 'Unix socket of `status` and `top`' },
  {
    names: ['ended.json'],
    when: 'No agent runs',
    text: 'Time, exit code and reason of the last end. The next agent removes it',
  },
  {
    names: ['profile-token'],
    when: '`--profiling`',
    text: 'Token for requests of profiles',
  },
  {
    names: ['envoy-kept.json'],
    when: '`--keepEnvoy`',
    text: 'Envoys that run, for the next agent',
  },
  { names: ['envoy.log'], when: '`--keepEnvoy`', text: 'Log of Envoy. It stays' },
  {
    names: ['envoy-revN-B.exit'],
    when: '`--keepEnvoy`',
    text: 'Exit code of the Envoy of epoch N and base id B, for a moment',
  },
];

export function filesPage(): string {
  return page(
    'Files',
    paragraph(
      'The agent writes its files into the folder of `--configPath`, and sockets also into `/dev/shm` (see below). If it installs an Envoy, it writes that Envoy into its cache. ' +
        'It also writes what `OUTPUT_CERTS` and `--log_target` name. The agent creates missing folders.',
    ),
    table(
      ['File', 'Exists while', 'Content'],
      files.map(({ names, when, text }) => [names.map(code).join(', '), when, text]),
    ),
    list([
      'A new folder has mode 0700. The root file system can be read-only, but not this folder.',
      'The files, sockets and FIFOs of the agent have mode 0600. The agent replaces a bootstrap as a whole.',
      'At its end, the agent leaves `ended.json` and the files that stay. An agent that was killed leaves its sockets instead of `ended.json`.',
      'The agent removes a FIFO from the folder before Envoy starts.',
      '`envoy-beside-N.json`: its clusters for the admin endpoint lead to the endpoint of epoch N.',
      '`envoy-B` has mode 0700. If its path would be longer than 83 bytes, or the disk is full, the folder has another place. It is then `pilot-agent-*` in the folder for temporary files (`TMPDIR`), or in `/dev/shm`.',
      "Envoy's shared memory, `/dev/shm/envoy_shared_memory_*`, is removed after the last epoch of a base id.",
      '`/dev/shm/pilot-agent-B-*` is a socket that reserves base id B. The next agent removes the socket of a dead agent.',
      'The agent uses `envoy-kept.json` only if the user of the agent owns it and no other user can read or write it.',
    ]),
    section(
      'One agent for a folder',
      paragraph(
        'The agent listens on a socket in its folder. A second agent with the same folder asks there, and ends with [69](exit-codes.md#69). It prints the process, ' +
          'version and start time of the first agent. The files of the first agent do not change.',
      ),
      list([
        'The socket of a dead agent does not answer: the next agent uses the folder at once.',
        'An agent that is stopped, or too busy to answer within a second, keeps the folder.',
        'An agent of another user keeps the folder, because its socket cannot be asked. If that agent is dead, remove its `agent-*.lock`.',
        'If the disk has no room for a socket, the agent runs without one, and warns.',
      ]),
    ),
  );
}
