import { describe, expect, it } from 'vitest';
import { firstValueFrom, NEVER, of } from 'rxjs';
import { envoyConfig } from '../../../demo/envoy-config.ts';
import type { AdminClient } from '../../../src/proxy/admin-client.ts';
import { adminOverride, followAdmin } from '../../../src/proxy/side-by-side.ts';
import { sharesPorts } from '../../../src/proxy/admin-questions.ts';
import { toExit } from '../../../src/proxy/spawn-envoy.ts';

const cluster = (address: string, port: number) => ({
  name: 'a',
  load_assignment: {
    endpoints: [
      {
        lb_endpoints: [
          { endpoint: { address: { socket_address: { address, port_value: port } } } },
        ],
      },
    ],
  },
});
const bootstrap = (...clusters: readonly unknown[]) => {
  const { static_resources: resources, ...rest } = envoyConfig({
    adminPort: 15_000,
    listenPort: 80,
  });
  return JSON.stringify({ ...rest, static_resources: { ...(resources as object), clusters } });
};

describe('followAdmin', () => {
  it('leads clusters of the admin endpoint to the new port, and no other', () => {
    const clusters = [
      cluster('127.0.0.1', 15_000),
      cluster('localhost', 15_000),
      cluster('10.0.0.1', 15_000),
      cluster('127.0.0.1', 15_001),
    ];
    const followed = followAdmin(bootstrap(...clusters), 4_711) ?? '';
    const expected = [
      cluster('127.0.0.1', 4_711),
      cluster('localhost', 4_711),
      ...clusters.slice(2),
    ];
    expect(JSON.parse(followed)).toEqual(JSON.parse(bootstrap(...expected)));
  });

  it.each([
    ['has no such cluster', bootstrap(cluster('127.0.0.1', 80))],
    ['has no admin endpoint', '{"static_resources":{"clusters":[]}}'],
    ['is YAML', 'admin: {}'],
    ['is null', 'null'],
  ])('has nothing to say of a bootstrap that %s', (_, text) => {
    expect(followAdmin(text, 4_711)).toBe(undefined);
  });
});

describe('adminOverride', () => {
  it('is the address alone: everybody can read it', () => {
    const address = { socket_address: { address: '127.0.0.1', port_value: 4_711 } };
    expect(JSON.parse(adminOverride('127.0.0.1', 4_711))).toEqual({ admin: { address } });
  });
});

describe('sharesPorts', () => {
  const admin = (...bodies: readonly (string | undefined)[]): AdminClient => {
    const answers = [...bodies];
    return {
      request: () => {
        const body = answers.shift();
        return of(
          body === undefined
            ? { ok: false, error: new Error('silent') }
            : { ok: true, value: { status: 200, body } },
        );
      },
      open: () => NEVER,
      located: () => true,
    };
  };

  it.each([
    {
      what: 'nobody says otherwise',
      bodies: ['{}', '{}'],
      config: 'enable_reuse_port: true',
      shared: true,
    },
    { what: 'Envoy is silent', bodies: [undefined, undefined], config: '{}', shared: true },
    {
      what: 'the configuration says no',
      bodies: [undefined, undefined],
      config: '{"enable_reuse_port":false}',
      shared: false,
    },
    {
      what: 'it says so in YAML',
      bodies: ['{}', '{}'],
      config: 'enable_reuse_port: false',
      shared: false,
    },
    {
      what: 'a dynamic listener says no',
      bodies: ['{}', '{"enable_reuse_port": false}'],
      config: '',
      shared: false,
    },
  ])('is $shared if $what', async ({ bodies, config, shared }) => {
    expect(
      await firstValueFrom(sharesPorts(admin(...bodies), config), { defaultValue: undefined }),
    ).toBe(shared);
  });
});

describe('an end by SIGKILL', () => {
  it.each([
    [3, 4, true],
    [3, 3, false],
    [undefined, 4, undefined],
  ])(
    'with %s kills for want of memory before and %s after it: %s',
    (before, after, outOfMemory) => {
      const exit = toExit({ signal: 'SIGKILL' }, [], before, after);
      expect(exit).toStrictEqual({
        kind: 'signaled',
        signal: 'SIGKILL',
        tail: [],
        ...(outOfMemory !== undefined && { outOfMemory }),
      });
    },
  );

  it('is nothing that another signal has to do with', () => {
    expect(toExit({ signal: 'SIGSEGV' }, [], 3, 4)).toStrictEqual({
      kind: 'signaled',
      signal: 'SIGSEGV',
      tail: [],
    });
  });
});
