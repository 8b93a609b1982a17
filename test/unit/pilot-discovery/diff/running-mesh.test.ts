import { describe, expect, it } from 'vitest';
import {
  readDump,
  readKeys,
  readProxies,
} from '../../../../src/pilot-discovery/diff/running-mesh.ts';
import { configDump, printed } from '../../../../src/pilot-discovery/generate/config-dump.ts';
import { viewer } from '../../../../src/pilot-discovery/generate/view-of.ts';
import { xdsTypes } from '../../../../src/pilot-discovery/push/view.ts';
import { proxyIn, resourceText } from '../../../support/golden.ts';
import { environmentOf } from '../../../support/generated.ts';

const id = 'sidecar~10.0.0.1~app.shop~shop.svc.cluster.local';
const versions = { cluster: 'c', endpoint: 'e', listener: 'l', route: 'r' };
const proxy = { id, locality: 'a/b/c', metadata: { LABELS: { app: 'x' } }, versions };

describe('readProxies', () => {
  it('reads the proxies of /debug/proxyz', () => {
    expect(readProxies(JSON.stringify([proxy]))).toMatchObject([
      {
        proxy: { node: { id, locality: 'a/b/c', labels: { app: 'x' } }, presence: 'connected' },
        versions,
      },
    ]);
  });

  it.each<[name: string, body: unknown]>([
    ['an object', {}],
    ['a list of texts', ['a']],
    ['a proxy without an id', [{ ...proxy, id: 1 }]],
    ['a proxy without versions', [{ ...proxy, versions: undefined }]],
    ['a proxy with a list as metadata', [{ ...proxy, metadata: [] }]],
  ])('reads nothing from %s', (_, body) => {
    expect(readProxies(JSON.stringify(body))).toBeUndefined();
  });

  it('reads nothing from what is not JSON, or too deep', () => {
    expect(readProxies('<html>')).toBeUndefined();
    expect(readProxies('['.repeat(100_000))).toBeUndefined();
  });
});

describe('readKeys', () => {
  it('reads texts by any name, and nothing else', () => {
    expect(readKeys('{ "constructor": "x" }')).toEqual(new Map([['constructor', 'x']]));
    expect(readKeys('{ "a": 1 }')).toBeUndefined();
    expect(readKeys('[]')).toBeUndefined();
  });
});

describe('readDump', () => {
  it('reads all resources of /debug/config_dump with their versions', () => {
    const environment = environmentOf(
      resourceText(
        'ServiceEntry',
        'a',
        `
hosts: [a.mesh]
resolution: STATIC
ports: [{ number: 80, name: http, protocol: HTTP }]
endpoints: [{ address: 10.0.0.9 }]`,
      ),
    );
    const view = viewer(() => undefined).view({ number: 1, environment }, proxyIn(''));
    const dump = readDump(JSON.stringify(configDump(view)));
    for (const type of xdsTypes)
      expect([...(dump?.[type].resources ?? [])]).toEqual(
        printed(view, type).map(({ name, version, json }) => [name, { version, json }]),
      );
  });

  it('reads nothing from another answer', () => {
    expect(readDump('{ "configs": {} }')).toBeUndefined();
    expect(readDump('nothing')).toBeUndefined();
  });
});
