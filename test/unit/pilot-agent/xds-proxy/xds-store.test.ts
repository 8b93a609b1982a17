import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Resource,
  ResourceSchema,
} from '../../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { LastGood } from '../../../../src/pilot-agent/xds-proxy/last-good.ts';
import { typeUrls } from '../../../../src/shared/xds/resources.ts';
import { store } from '../../../../src/pilot-agent/xds-proxy/store.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'xds-store-'));
  path = join(folder, 'xds-store');
});
afterEach(() => rmSync(folder, { recursive: true }));

const resource = (name: string, value: Uint8Array, version = ''): Resource =>
  create(ResourceSchema, { name, version, resource: { typeUrl: typeUrls.clusters, value } });
const good = (
  version = '7',
  value: Uint8Array = Buffer.from([0, 255, 10, 13, 0x80]),
): LastGood => ({
  types: new Map([
    [
      typeUrls.clusters,
      {
        version,
        resources: new Map([
          ['a', resource('a', value, 'v1')],
          ['b', resource('b', new Uint8Array())],
        ]),
        absent: new Set(),
      },
    ],
    [typeUrls.endpoints, { version: '', resources: new Map(), absent: new Set(['gone', '*']) }],
  ]),
  nodeId: 'node',
  confirmedAt: 1_780_000_000_123,
});
const storeFor = (nodeId = 'node', controlPlane = 'istiod:15012') =>
  store(path, nodeId, controlPlane);
const ignored = (reason: string) => ({
  kind: 'ignored',
  reason: expect.stringContaining(reason) as string,
});
const bytesOf = (stored: LastGood) =>
  [...stored.types].map(([type, { resources }]) => [
    type,
    [...resources.values()].map((each) =>
      Buffer.from(toBinary(ResourceSchema, each)).toString('hex'),
    ),
  ]);

describe('the store of the xDS proxy', () => {
  it('has nothing if nothing was written', () => {
    expect(storeFor().read()).toEqual({ kind: 'none' });
  });

  it('gives back what was written: resources byte for byte, absent names, versions, the node and the time', () => {
    expect(storeFor().write(good())).toBeUndefined();
    const read = storeFor().read();
    if (read.kind !== 'good') throw new Error(JSON.stringify(read));
    expect(read.good).toEqual(good());
    expect(bytesOf(read.good)).toEqual(bytesOf(good()));
    expect([...read.good.types.keys()]).toEqual([...good().types.keys()]);
  });

  it('keeps whole ms of the time', () => {
    storeFor().write({ ...good(), confirmedAt: 1_780_000_000_123.6 });
    expect(storeFor().read()).toMatchObject({ good: { confirmedAt: 1_780_000_000_124 } });
  });

  it('is one file, for its owner alone, which is replaced as a whole', () => {
    storeFor().write(good('1'));
    const before = readFileSync(path);
    const open = openSync(path, 'r');
    try {
      storeFor().write(good('2'));
      expect(readFileSync(open)).toEqual(before); // an open file stays the old one
    } finally {
      closeSync(open);
    }
    expect(storeFor().read()).toMatchObject({ good: good('2') });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['xds-store']);
  });

  it('keeps what was there if it cannot be written', () => {
    storeFor().write(good('1'));
    // There is no room for the name that is written first.
    const long = join(folder, 'x'.repeat(250));
    renameSync(path, long);
    expect(store(long, 'node', 'istiod:15012').write(good('2'))).toContain('ENAMETOOLONG');
    expect(store(long, 'node', 'istiod:15012').read()).toMatchObject({ good: good('1') });
  });

  const flip = (index: number) => () => {
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(index) ^ 1, index);
    writeFileSync(path, bytes);
  };
  it.each([
    ['is empty', () => truncateSync(path)],
    ['ends within the sum', () => truncateSync(path, 20)],
    ['ends after the sum', () => truncateSync(path, 32)],
    ['lacks its last byte', () => truncateSync(path, statSync(path).size - 1)],
    ['has one byte more', () => appendFileSync(path, 'x')],
    ['has another byte in its sum', flip(3)],
    ['has another byte in its content', flip(50)],
  ])('is ignored as damaged if it %s', (_, damage) => {
    storeFor().write(good());
    damage();
    expect(storeFor().read()).toEqual({ kind: 'ignored', reason: 'it is damaged' });
    expect(storeFor().write(good())).toBeUndefined();
    expect(storeFor().read().kind).toBe('good');
  });

  it('is ignored if it is of another node or from another control plane, which it names', () => {
    storeFor().write(good());
    expect(storeFor('other').read()).toEqual({
      kind: 'ignored',
      reason: 'it is for another node, node',
    });
    expect(storeFor('node', 'other:15012').read()).toEqual({
      kind: 'ignored',
      reason: 'it is from another control plane, istiod:15012',
    });
  });

  it('is ignored with what the system says if it cannot be read', () => {
    mkdirSync(path);
    expect(storeFor().read()).toEqual(ignored('it is a directory, and not a regular file'));
  });

  it('keeps nothing of what is too large, and says so', () => {
    storeFor().write(good());
    const large = 64 << 20;
    expect(storeFor().write(good('2', Buffer.alloc(large)))).toMatch(
      new RegExp(`^it has ${String(large).slice(0, 4)}\\d+ bytes, and ${large} are kept at most$`),
    );
    expect(storeFor().read()).toEqual({ kind: 'none' });
  });

  it('says why it cannot be written if its folder cannot be written to', () => {
    const inFile = join(folder, 'file', 'xds-store');
    writeFileSync(join(folder, 'file'), '');
    expect(store(inFile, 'node', 'istiod:15012').write(good())).toContain('ENOTDIR');
    expect(
      store(join(folder, 'missing', 'xds-store'), 'node', 'istiod:15012').write(good()),
    ).toContain('ENOENT');
    expect(existsSync(join(folder, 'missing'))).toBe(false);
  });
});
