import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { expect, it, vi } from 'vitest';
import { scanRequest } from '../../../../src/pilot-discovery/push/request-bytes.ts';
import { requestWithNames } from '../../../../src/pilot-discovery/push/request-with-names.ts';
import { DiscoveryRequestSchema } from '../../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { withNames } from '../../../../src/shared/xds/subscription-names.ts';
import { newSubscription } from '../../../../src/shared/xds/type-subscription.ts';
import { toyPolicy, type ToyKind } from '../../../support/toy-subscription.ts';

const decode = vi.fn((bytes: Buffer) => fromBinary(DiscoveryRequestSchema, bytes));
const names = Array.from({ length: 20 }, (_, index) => `outbound|80||${index}.example.com`);

function read(responseNonce: string, resourceNames: readonly string[]) {
  const bytes = Buffer.from(
    toBinary(
      DiscoveryRequestSchema,
      create(DiscoveryRequestSchema, {
        ...{ node: { id: 'a' }, versionInfo: '7', typeUrl: 'type', responseNonce },
        resourceNames: [...resourceNames],
      }),
    ),
  );
  const scanned = scanRequest(bytes, 2);
  if (scanned.type !== 'message' || scanned.names === undefined) throw new Error('few names');
  return requestWithNames(bytes, scanned.names, decode);
}

it('has all parts of the request', () => {
  const { node, ...request } = read('1', names);
  expect(node?.id).toBe('a');
  expect(request).toMatchObject({ typeUrl: 'type', nonce: '1', refusal: undefined });
  expect(request.names).toMatchObject({ kind: 'all', version: '7', names });
});

it('decodes names only if they are others than those of the request before', () => {
  const policy = toyPolicy;
  const first = withNames<ToyKind>(policy, newSubscription(), read('', names).names, undefined);
  expect(first.names).toEqual(new Set(names));
  decode.mockClear();
  expect(withNames<ToyKind>(policy, first, read('1', names).names, undefined)).toBe(first);
  expect(decode).toHaveBeenCalledTimes(1); // it decodes the rest of the request
  const turned = withNames<ToyKind>(policy, first, read('2', names.toReversed()).names, undefined);
  expect(turned.names).toBe(first.names);
  const same = { ...read('2', names.toReversed()).names, names: [] };
  expect(withNames<ToyKind>(policy, turned, same, undefined)).toBe(turned);
  const fewer = withNames<ToyKind>(policy, turned, read('3', names.slice(1)).names, undefined);
  expect(fewer.names).toEqual(new Set(names.slice(1)));
});
