import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { proxyOf } from '../../../../src/pilot-discovery/run/proxy-of.ts';
import { LocalitySchema } from '../../../../src/shared/proto/envoy/config/core/v3/base_pb.ts';

const id = 'sidecar~10.0.0.1~a.default~default.svc.cluster.local';
const cluster = 'a.default';
const none = new Uint8Array();

describe('proxyOf', () => {
  it('reads the locality', () => {
    const locality = toBinary(
      LocalitySchema,
      create(LocalitySchema, { region: 'r', zone: 'z', subZone: 's' }),
    );
    expect(proxyOf({ id, cluster, metadata: {}, locality })).toMatchObject({ locality: 'r/z/s' });
    expect(proxyOf({ id, cluster, metadata: {}, locality: none })).toMatchObject({ locality: '' });
  });

  it('reads the cluster, which names its service in spans', () => {
    expect(proxyOf({ id, cluster, metadata: {}, locality: none })).toMatchObject({
      cluster: 'a.default',
    });
  });

  it('says that a locality is not a message', () => {
    expect(proxyOf({ id, cluster, metadata: {}, locality: new Uint8Array([0x0a, 9]) })).toBe(
      `the locality of the node '${id}' cannot be decoded`,
    );
  });

  it.each([
    ['15021', 15_021],
    [15_022, 15_022],
    ['none', 15_021],
    [{ valueOf: null, toString: null }, 15_021],
    [[1], 15_021],
  ])('takes the status port %j as %d', (port, expected) => {
    expect(
      proxyOf({ id, cluster, metadata: { ENVOY_STATUS_PORT: port }, locality: none }),
    ).toMatchObject({
      ownPorts: [15_090, expected],
    });
  });
});
