import type { RestartAddress } from './restart-addresses.ts';

/** The arguments that all epochs share. Durations are in ms, and multiples of 1,000. */
export interface EnvoyArgs {
  readonly drainDuration: number;
  readonly parentShutdownDuration: number;
  readonly serviceCluster: string;
  readonly serviceNode: string;
  readonly ipv6: boolean;
  readonly logFormat: string;
  /** '' omits the option, as the Go agent does. */
  readonly logLevel: string;
  readonly componentLogLevel: string;
  /** 0 omits the option: Envoy starts a worker for each core. */
  readonly concurrency: number;
}

/** The arguments that differ between epochs. */
export interface EpochArgs {
  readonly config: string;
  /**
   * JSON that Envoy merges over its configuration; '' for none. Everybody on the machine can read
   * it, so it holds only the address of the admin endpoint.
   */
  readonly override: string;
  readonly restartEpoch: number;
  /** Undefined for a check while no Envoy runs. No check opens a socket. */
  readonly restartAddress?: RestartAddress | undefined;
}

/**
 * Returns Envoy's arguments in the order of the Go agent 1.6, without the options that Envoy 1.36
 * no longer knows, and with those that keep epochs safe.
 *
 * `--skip-hot-restart-on-no-parent` is used only with a parent: without one Envoy 1.36 warns of a
 * failed hot restart that nobody requested.
 */
export function envoyArgs(
  args: EnvoyArgs,
  { config, override, restartEpoch, restartAddress }: EpochArgs,
): readonly string[] {
  return [
    ...['-c', config],
    ...['--restart-epoch', String(restartEpoch)],
    ...['--drain-time-s', String(args.drainDuration / 1_000)],
    ...['--parent-shutdown-time-s', String(args.parentShutdownDuration / 1_000)],
    ...['--service-cluster', args.serviceCluster],
    ...['--service-node', args.serviceNode],
    ...['--local-address-ip-version', args.ipv6 ? 'v6' : 'v4'],
    ...['--log-format', args.logFormat],
    ...(args.logLevel === '' ? [] : ['-l', args.logLevel]),
    ...(args.componentLogLevel === '' ? [] : ['--component-log-level', args.componentLogLevel]),
    ...(override === '' ? [] : ['--config-yaml', override]),
    ...(args.concurrency > 0 ? ['--concurrency', String(args.concurrency)] : []),
    ...(restartAddress === undefined ? [] : restartAddressArgs(restartAddress)),
    ...['--drain-strategy', 'immediate'],
    ...(restartEpoch > 0 ? ['--skip-hot-restart-on-no-parent'] : []),
  ];
}

/**
 * By default Envoy uses abstract sockets, which every process in the network namespace can reach:
 * such a process can take the listening sockets, and can end Envoy. A child finds its parent only
 * by the same path.
 */
function restartAddressArgs({ baseId, socketPath }: RestartAddress): readonly string[] {
  return [
    '--base-id',
    String(baseId),
    ...(socketPath === '' ? [] : ['--socket-path', socketPath, '--socket-mode', '600']),
  ];
}
