import { create } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  NodeSchema,
} from '../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { toStreamRequest } from '../../../src/pilot-agent/secrets/sds/sds-messages.ts';
import {
  initialStream,
  reduceStream,
  type StreamState,
} from '../../../src/pilot-agent/secrets/sds/stream.ts';
import type { StreamEvent } from '../../../src/pilot-agent/secrets/sds/stream-event.ts';
import { readRequest, readResponse } from '../../../src/shared/xds/messages.ts';
import { relay } from '../../../src/pilot-agent/xds-proxy/relay.ts';
import {
  initialRelay,
  type RelayEvent,
  type RelayState,
} from '../../../src/pilot-agent/xds-proxy/relay-state.ts';
import { typeUrls } from '../../../src/shared/xds/resources.ts';
import { fuzzed } from '../parser.ts';

const name = fc.oneof(fc.constantFrom('a', 'b', '*', 'default', '__proto__', ''), fc.string());
const names = fc.array(name, { maxLength: 6 });
const nonce = fc.constantFrom('', '1', '2', '3', 'x');
const typeUrl = fc.oneof(fc.constantFrom(...Object.values(typeUrls)), fc.string());
const error = fc.option(
  fc.record({ code: fc.integer({ min: 0, max: 16 }), message: fc.string() }),
  { nil: undefined },
);
const node = create(NodeSchema, { id: 'sidecar~10.1.2.3~pod.ns~domain' });
const versions = fc.dictionary(name, fc.string(), { maxKeys: 3 });

const whole = fc
  .record({
    node: fc.constantFrom(node, undefined),
    typeUrl,
    responseNonce: nonce,
    versionInfo: fc.string(),
    resourceNames: names,
    errorDetail: error,
  })
  .map(({ errorDetail, node, ...rest }) =>
    create(DiscoveryRequestSchema, {
      ...rest,
      ...(node && { node }),
      ...(errorDetail && { errorDetail }),
    }),
  );
const delta = fc
  .record({
    typeUrl,
    responseNonce: nonce,
    resourceNamesSubscribe: names,
    resourceNamesUnsubscribe: names,
    initialResourceVersions: versions,
    errorDetail: error,
  })
  .map(({ errorDetail, ...rest }) =>
    create(DeltaDiscoveryRequestSchema, { ...rest, node, ...(errorDetail && { errorDetail }) }),
  );
const resource = fc.record({ typeUrl, value: fc.uint8Array({ maxLength: 40 }) });
const answer = fc.oneof(
  fc
    .record({
      typeUrl,
      nonce,
      versionInfo: fc.string(),
      resources: fc.array(resource, { maxLength: 4 }),
    })
    .map((fields) => create(DiscoveryResponseSchema, fields)),
  fc
    .record({
      typeUrl,
      nonce,
      removedResources: names,
      resources: fc.array(fc.record({ name, version: fc.string(), resource }), { maxLength: 4 }),
    })
    .map((fields) => create(DeltaDiscoveryResponseSchema, fields)),
);

function playSds(events: readonly StreamEvent[]): StreamState {
  return events.reduce((state, event) => reduceStream(state, event)[0], initialStream);
}

function playXds(events: readonly RelayEvent[]): RelayState {
  const step = relay(1_000);
  return events.reduce((state, event) => step(state, { ...event, at: 0 })[0], initialRelay);
}

/**
 * Reads an answer. An answer that cannot be read ends its connection, as in
 * `src/pilot-agent/xds-proxy/control-plane.ts`.
 */
function updateOf(message: Parameters<typeof readResponse>[0]): RelayEvent {
  try {
    return { type: 'updated', connection: 1, update: readResponse(message) };
  } catch (error) {
    return { type: 'lost', connection: 1, reason: String(error) };
  }
}

function asksFor(resourceNames: string[]): StreamEvent {
  return {
    type: 'request',
    request: toStreamRequest(create(DiscoveryRequestSchema, { node, resourceNames })),
  };
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `name-${index}`);
const asks = (resourceNames: readonly string[], type: string): RelayEvent => {
  const message = create(DiscoveryRequestSchema, {
    node,
    typeUrl: type,
    resourceNames: [...resourceNames],
  });
  return { type: 'requested', stream: 1, request: readRequest(message) };
};
const stream = (variant: 'delta' | 'state-of-the-world'): readonly RelayEvent[] => [
  { type: 'stream-opened', stream: 1, variant },
  asks([], typeUrls.clusters),
  { type: 'opened', connection: 1 },
];
const gives = (resourceNames: readonly string[], type: string): RelayEvent => {
  const resources = resourceNames.map((each) => ({
    name: each,
    version: '1',
    resource: { typeUrl: type, value: new Uint8Array() },
  }));
  return updateOf(create(DeltaDiscoveryResponseSchema, { typeUrl: type, nonce: '1', resources }));
};

export const discovery = [
  fuzzed({
    name: 'SDS requests',
    inputs: fc.array(
      fc.oneof(
        fc
          .oneof(whole, delta)
          .map((message): StreamEvent => ({ type: 'request', request: toStreamRequest(message) })),
        fc.record({ name, version: fc.string() }).map((each): StreamEvent => ({
          type: 'secret',
          ...each,
          secret: { kind: 'roots', roots: '' },
        })),
        fc
          .record({ name, reason: fc.string() })
          .map((each): StreamEvent => ({ type: 'missing', ...each })),
      ),
      { maxLength: 12 },
    ),
    parse: playSds,
    size: 62, // one stream may have 1,000 names, just above sixteen times this
    growing: {
      'names in one request': (size) => [asksFor(numbered(size))],
      'requests for one name': (size) => Array.from({ length: size * 10 }, () => asksFor(['a'])),
      'more names than there may be': (size) => [asksFor(numbered(size * 200))],
    },
  }),
  fuzzed({
    name: 'xDS requests and answers',
    inputs: fc
      .tuple(
        fc.constantFrom<'delta' | 'state-of-the-world'>('delta', 'state-of-the-world'),
        fc.array(
          fc.oneof(
            fc.oneof(whole, delta).map((message): RelayEvent => ({
              type: 'requested',
              stream: 1,
              request: readRequest(message),
            })),
            answer.map(updateOf),
            fc.constantFrom<RelayEvent>(
              { type: 'confirmation-due' },
              { type: 'opened', connection: 1 },
              { type: 'stream-closed', stream: 1 },
            ),
          ),
          { maxLength: 12 },
        ),
      )
      .map(([variant, events]) => [...stream(variant), ...events]),
    parse: playXds,
    size: 300,
    growing: {
      'names in one request': (size) => [
        ...stream('delta'),
        asks(numbered(size), typeUrls.endpoints),
      ],
      'resources in one answer': (size) => [
        ...stream('delta'),
        asks(numbered(size), typeUrls.endpoints),
        gives(numbered(size), typeUrls.endpoints),
      ],
      'clusters that nobody asked for': (size) => [
        ...stream('delta'),
        asks([], typeUrls.clusters),
        gives(numbered(size), typeUrls.clusters),
      ],
    },
  }),
];
