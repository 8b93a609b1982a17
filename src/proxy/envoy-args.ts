import type { MeetingPlace } from './meeting-places.ts';

/** What Envoy is started with, whatever the epoch. Durations in ms, of whole seconds. */
export interface EnvoyArgs {
  readonly drainDuration: number;
  readonly parentShutdownDuration: number;
  readonly serviceCluster: string;
  readonly serviceNode: string;
  readonly ipv6: boolean;
  readonly logFormat: string;
  /** '' leaves the option out, as with the Go agent. */
  readonly logLevel: string;
  readonly componentLogLevel: string;
  /** 0 leaves the option out: Envoy takes a worker for each core. */
  readonly concurrency: number;
}

/** What differs from one epoch to the next. */
export interface EpochArgs {
  readonly config: string;
  /**
   * JSON that Envoy lays over its configuration; '' for none. Everybody on the machine can read it:
   * it says where the admin endpoint is, and no more.
   */
  readonly override: string;
  readonly restartEpoch: number;
  /** Undefined for a check where no Envoy runs. No check opens a socket. */
  readonly place?: MeetingPlace | undefined;
}

/**
 * Envoy's argument vector, in the order of the Go agent 1.6 without what Envoy 1.36 no longer
 * knows, and with what keeps epochs safe.
 *
 * `--skip-hot-restart-on-no-parent` goes with a parent only: without one Envoy 1.36 warns of a
 * failed hot restart that nobody asked for.
 */
export function envoyArgs(
  args: EnvoyArgs,
  { config, override, restartEpoch, place }: EpochArgs,
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
    ...(place === undefined ? [] : meetingAt(place)),
    ...['--drain-strategy', 'immediate'],
    ...(restartEpoch > 0 ? ['--skip-hot-restart-on-no-parent'] : []),
  ];
}

/**
 * Envoy's own way are abstract sockets, which anybody in the network namespace reaches: who asks
 * there gets the listening sockets, and may end it. A child finds its parent by the same path only.
 */
function meetingAt({ baseId, socketPath }: MeetingPlace): readonly string[] {
  return [
    '--base-id',
    String(baseId),
    ...(socketPath === '' ? [] : ['--socket-path', socketPath, '--socket-mode', '600']),
  ];
}
