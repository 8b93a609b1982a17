import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { DiscoveryRequestSchema } from '../../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { clientLimits } from '../../../../src/pilot-discovery/push/client-limits.ts';
import { scanRequest } from '../../../../src/pilot-discovery/push/request-bytes.ts';

const mostNames = clientLimits.names.value;

const request = (id: number, names = 0) =>
  Buffer.from(
    toBinary(
      DiscoveryRequestSchema,
      create(DiscoveryRequestSchema, {
        node: { id: 'a'.repeat(id) },
        resourceNames: Array.from({ length: names }, () => 'n'),
      }),
    ),
  );

it.each([
  ['a node of 250 KB', request(250_000), undefined],
  ['a node of 300 KB', request(300_000), /^its node has 3000\d\d bytes, and the limit is 262144$/],
  [
    'two nodes of 250 KB, which are merged',
    Buffer.concat([request(250_000), request(250_000)]),
    /^its node has 500\d\d\d bytes/,
  ],
  ['as many names as may be', request(1, mostNames), undefined],
  ['one name more', request(1, mostNames + 1), /^it names more than 100000 resources/],
  [
    'one name more in two pieces',
    Buffer.concat([request(1, mostNames), request(1, 1)]),
    /^it names more than 100000 resources/,
  ],
  ['no message', Buffer.from([0x0a, 0xff]), undefined],
  ['a group', Buffer.from([0x0b, 0x0c]), /^its field 1 is a group, which no proxy sends$/],
])('%s', (_, bytes, flaw) => {
  const scanned = scanRequest(bytes, 2);
  if (flaw === undefined) expect(scanned.type).toBe('message');
  else
    expect(scanned).toMatchObject({
      type: 'refused',
      reason: expect.stringMatching(flaw) as string,
    });
});

const named = (...names: readonly string[]) =>
  Buffer.from(
    toBinary(
      DiscoveryRequestSchema,
      create(DiscoveryRequestSchema, {
        ...{ versionInfo: '7', typeUrl: 'type', responseNonce: 'nonce' },
        resourceNames: [...names],
      }),
    ),
  );
const all = Array.from({ length: 20 }, (_, index) => `outbound|80||${index}.é.example`);
const partOf = (bytes: Buffer, nodeField: 1 | 2 = 2) => {
  const scanned = scanRequest(bytes, nodeField);
  if (scanned.type !== 'message' || scanned.names === undefined) return undefined;
  return fromBinary(DiscoveryRequestSchema, bytes.subarray(scanned.names.from, scanned.names.to))
    .resourceNames;
};

it('finds the part with the names of a whole request, if there are many', () => {
  expect(partOf(named(...all))).toEqual(all);
  expect(partOf(named(...all), 1)).toBeUndefined();
  expect(partOf(named(...all, 'x'.repeat(128)))).toBeUndefined();
  expect(partOf(named(...all.slice(0, 3)))).toBeUndefined();
  expect(partOf(Buffer.concat([named(...all), named(...all)]))).toBeUndefined();
  expect(partOf(named(...all).subarray(0, -1))).toBeUndefined();
});

it('leaves names to the decoder if one of them is not a text', () => {
  const names = Buffer.from(
    toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { resourceNames: all })),
  );
  const number = Buffer.from([0x18, 1]); // this is the same field, with a number
  expect(partOf(names)).toEqual(all);
  expect(partOf(Buffer.concat([names, number]))).toBeUndefined();
  expect(partOf(Buffer.concat([number, names]))).toBeUndefined();
});
