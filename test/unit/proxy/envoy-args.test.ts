import { describe, expect, it } from 'vitest';
import { type EnvoyArgs, envoyArgs, type EpochArgs } from '../../../src/proxy/envoy-args.ts';
import { envoyLogFormat } from '../../../src/proxy/envoy-lines.ts';

/** The arguments in the peer's own test. */
const peers: EnvoyArgs = {
  drainDuration: 45_000,
  parentShutdownDuration: 60_000,
  serviceCluster: 'my-cluster',
  serviceNode: 'my-node',
  ipv6: false,
  logFormat: envoyLogFormat,
  logLevel: 'trace',
  componentLogLevel: 'misc:error',
  concurrency: 8,
};
const args = (given: Partial<EnvoyArgs> & Partial<EpochArgs> = {}) =>
  envoyArgs(
    { ...peers, ...given },
    { config: 'test.json', override: '', restartEpoch: 0, ...given },
  );
const lines = (...options: readonly string[]) => options.flatMap((option) => option.split(' = '));

describe('envoyArgs', () => {
  it('gives the peer’s vector in its order, without --max-obj-name-len (Envoy 1.36 has dropped it), and with ours behind it', () => {
    expect(
      args({
        override: '{"key": "value"}',
        restartEpoch: 5,
        restartAddress: { baseId: 7, socketPath: '/run/envoy-7/s' },
      }),
    ).toEqual(
      lines(
        '-c = test.json',
        '--restart-epoch = 5',
        '--drain-time-s = 45',
        '--parent-shutdown-time-s = 60',
        '--service-cluster = my-cluster',
        '--service-node = my-node',
        '--local-address-ip-version = v4',
        '--log-format = %Y-%m-%dT%T.%fZ\t%l\tenvoy %n\t%v',
        '-l = trace',
        '--component-log-level = misc:error',
        '--config-yaml = {"key": "value"}',
        '--concurrency = 8',
        '--base-id = 7',
        '--socket-path = /run/envoy-7/s',
        '--socket-mode = 600',
        '--drain-strategy = immediate',
        '--skip-hot-restart-on-no-parent',
      ),
    );
  });

  it('gives the log format of 1.6 whatever the epoch, instead of one that names it (1.5) or none (1.1); no --allow-unknown-fields', () => {
    const formats = [0, 5]
      .map((restartEpoch) => args({ restartEpoch }))
      .map((all) => all[all.indexOf('--log-format') + 1]);
    expect(formats).toEqual([envoyLogFormat, envoyLogFormat]);
    expect(args({ restartEpoch: 5 })).not.toContain('--allow-unknown-fields');
  });

  it.each(['--max-obj-name-len', '--log-format-prefix-with-location', '--bootstrap-version'])(
    'never passes %s, at which Envoy 1.36 ends',
    (dropped) => {
      expect(args()).not.toContain(dropped);
    },
  );

  it.each<{
    what: string;
    given: Parameters<typeof args>[0];
    option: string;
    value: string | undefined;
  }>([
    { what: 'concurrency 4', given: { concurrency: 4 }, option: '--concurrency', value: '4' },
    {
      what: 'concurrency 0: a worker for each core',
      given: { concurrency: 0 },
      option: '--concurrency',
      value: undefined,
    },
    { what: 'v4', given: { ipv6: false }, option: '--local-address-ip-version', value: 'v4' },
    {
      what: 'an IPv6 node',
      given: { ipv6: true },
      option: '--local-address-ip-version',
      value: 'v6',
    },
    {
      what: 'base id 123',
      given: { restartAddress: { baseId: 123, socketPath: '' } },
      option: '--base-id',
      value: '123',
    },
    {
      what: 'abstract sockets that are there already',
      given: { restartAddress: { baseId: 1, socketPath: '' } },
      option: '--socket-path',
      value: undefined,
    },
    { what: 'no other Envoy', given: {}, option: '--base-id', value: undefined },
    { what: 'log level info', given: { logLevel: 'info' }, option: '-l', value: 'info' },
    { what: 'an empty log level', given: { logLevel: '' }, option: '-l', value: undefined },
    {
      what: 'component levels',
      given: { componentLogLevel: 'a:info,b:warning' },
      option: '--component-log-level',
      value: 'a:info,b:warning',
    },
    {
      what: 'no component levels',
      given: { componentLogLevel: '' },
      option: '--component-log-level',
      value: undefined,
    },
    {
      what: 'a log format with a space',
      given: { logFormat: 'some format' },
      option: '--log-format',
      value: 'some format',
    },
    {
      what: '--service-cluster',
      given: { serviceCluster: 'fake-cluster' },
      option: '--service-cluster',
      value: 'fake-cluster',
    },
    {
      what: '--service-node',
      given: { serviceNode: 'fake-node' },
      option: '--service-node',
      value: 'fake-node',
    },
    {
      what: 'a router’s node',
      given: { serviceNode: 'router~10.0.0.1~a.b~c' },
      option: '--service-node',
      value: 'router~10.0.0.1~a.b~c',
    },
    {
      what: 'a custom file',
      given: { config: '/etc/custom.yaml' },
      option: '-c',
      value: '/etc/custom.yaml',
    },
    { what: 'no override', given: {}, option: '--config-yaml', value: undefined },
    { what: 'drain 15 s', given: { drainDuration: 15_000 }, option: '--drain-time-s', value: '15' },
    { what: 'no drain', given: { drainDuration: 0 }, option: '--drain-time-s', value: '0' },
    {
      what: 'parent 15 s',
      given: { parentShutdownDuration: 15_000 },
      option: '--parent-shutdown-time-s',
      value: '15',
    },
  ])('$what → $option $value', ({ given, option, value }) => {
    const all = args(given);
    const index = all.indexOf(option);
    expect(index < 0 ? undefined : all[index + 1]).toBe(value);
  });

  it('passes what server_info is to report, hot restart never disabled', () => {
    const all = args({
      logLevel: 'debug',
      componentLogLevel: 'upstream:warning',
      concurrency: 7,
      serviceCluster: 'mycluster',
      serviceNode: 'mynode',
      drainDuration: 30_000,
      restartEpoch: 1,
    });
    const text = ` ${all.join(' ')} `;
    for (const option of [
      '-l debug',
      '--component-log-level upstream:warning',
      '--local-address-ip-version v4',
      '--concurrency 7',
      '--restart-epoch 1',
      '--service-cluster mycluster',
      '--service-node mynode',
      '--drain-time-s 30',
      '--parent-shutdown-time-s 60',
    ])
      expect(text).toContain(` ${option} `);
    expect(text).not.toContain('--disable-hot-restart');
  });

  it.each([
    { epoch: 0, skips: false },
    { epoch: 1, skips: true },
    { epoch: 123, skips: true },
  ])('epoch $epoch: --skip-hot-restart-on-no-parent $skips', ({ epoch, skips }) => {
    const all = args({ restartEpoch: epoch });
    expect(all[all.indexOf('--restart-epoch') + 1]).toBe(String(epoch));
    expect(all.includes('--skip-hot-restart-on-no-parent')).toBe(skips);
  });

  it('gives each value an element of its own, whatever is in it', () => {
    expect(args({ serviceCluster: 'a b=c "d" $e' })).toContain('a b=c "d" $e');
  });
});
