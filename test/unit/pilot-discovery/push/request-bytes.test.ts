import { create, toBinary } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { DiscoveryRequestSchema } from '../../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { clientLimits } from '../../../../src/pilot-discovery/push/client-limits.ts';
import { bytesFlaw } from '../../../../src/pilot-discovery/push/request-bytes.ts';

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
  ['a node of 300 KB', request(300_000), /^its node has 3000\d\d bytes, and 262144 are the limit$/],
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
])('%s', (_, bytes, flaw) => {
  const found = bytesFlaw(bytes, 2);
  if (flaw === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(flaw);
});
