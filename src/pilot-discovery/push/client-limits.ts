/** A limit for one client, or for all clients together. */
export interface ClientLimit {
  readonly value: number;
  readonly unit: '' | 'bytes' | 'characters' | 'ms';
  /** The quantity that is limited, as the reference page names it. */
  readonly what: string;
  readonly beyond: string;
}

/**
 * All limits for clients: the reference page is made from them. The content of a request is counted
 * before it is decoded.
 */
export const clientLimits = {
  names: {
    value: 100_000,
    unit: '',
    what: 'Names in one list of a request; names of a type that a stream subscribes to',
    beyond: 'RESOURCE_EXHAUSTED',
  },
  secrets: {
    value: 1_000,
    unit: '',
    what: 'Names of secrets that a stream subscribes to',
    beyond: 'RESOURCE_EXHAUSTED',
  },
  node: {
    value: 256 << 10,
    unit: 'bytes',
    what: 'The node in a request',
    beyond: 'RESOURCE_EXHAUSTED',
  },
  text: {
    value: 4_096,
    unit: 'characters',
    what: 'The type URL of a request; the ID of a node',
    beyond: 'RESOURCE_EXHAUSTED',
  },
  unservedTypes: {
    value: 32,
    unit: '',
    what: 'Unknown types on a stream',
    beyond: 'RESOURCE_EXHAUSTED',
  },
  unknownEndpoints: {
    value: 10_000,
    unit: '',
    what: 'Empty ClusterLoadAssignments in an answer, for unknown clusters',
    beyond: 'the others are sent after the ACK',
  },
  unfinishedOfConnection: {
    value: 2,
    unit: '',
    what: 'Incomplete requests of the largest size, on a connection',
    beyond: 'RESOURCE_EXHAUSTED for this stream',
  },
  unfinishedInAll: {
    value: 16,
    unit: '',
    what: 'Incomplete requests of the largest size, on all connections',
    beyond: 'RESOURCE_EXHAUSTED for the oldest stream',
  },
  streamsOfConnection: {
    value: 100,
    unit: '',
    what: 'Streams on a connection',
    beyond: 'HTTP/2 refuses the next stream',
  },
  streams: {
    value: 10_000,
    unit: '',
    what: 'Streams with a request, on all connections',
    beyond: 'RESOURCE_EXHAUSTED for the next stream',
  },
  silentStreams: {
    value: 1_000,
    unit: '',
    what: 'Streams without a request, on all connections',
    beyond: 'RESOURCE_EXHAUSTED for the oldest stream',
  },
  connections: {
    value: 10_000,
    unit: '',
    what: 'Connections',
    beyond: 'the oldest one without a request is closed; if all have one, the newest is closed',
  },
  silentConnections: {
    value: 1_000,
    unit: '',
    what: 'Connections without a request',
    beyond: 'the oldest one is closed',
  },
  silence: {
    value: 10_000,
    unit: 'ms',
    what: 'Time until the first request on a stream or a connection',
    beyond: 'the stream or connection is closed',
  },
  idle: {
    value: 300_000,
    unit: 'ms',
    what: 'Time that a connection has no stream',
    beyond: 'the connection is closed',
  },
  writing: {
    value: 5,
    unit: 'ms',
    what: 'Time that a write to a slow proxy delays the writes to others',
    beyond: 'the next write begins',
  },
  reading: {
    value: 300_000,
    unit: 'ms',
    what: 'Time until a proxy takes an answer',
    beyond: 'the stream is ended',
  },
  unreadInAll: {
    value: 64 << 20,
    unit: 'bytes',
    what: 'Answers that all proxies together have not taken',
    beyond: 'the next answers wait until others are taken',
  },
  unreadFirst: {
    value: 32 << 20,
    unit: 'bytes',
    what: 'The same, for the first answer of a type to a proxy',
    beyond: 'this answer waits, and changes are sent first',
  },
  late: {
    value: 5_000,
    unit: 'ms',
    what: 'Time until a proxy takes an answer, if others wait for room',
    beyond: 'the stream that has been late longest is ended',
  },
  unreadAnswers: {
    value: 4,
    unit: '',
    what: 'Answers that a proxy has ACKed, but not read',
    beyond: 'the stream is ended if the next limit is exceeded too',
  },
  unreadBytes: {
    value: 16 << 20,
    unit: 'bytes',
    what: 'Bytes of all answers that it has not read',
    beyond: 'the stream is ended if the limit above is exceeded too',
  },
  session: {
    value: 64_000_000,
    unit: 'bytes',
    what: 'Memory of HTTP/2 for a connection that does not read',
    beyond: 'new streams are refused',
  },
  firstSnapshot: {
    value: 5_000,
    unit: 'ms',
    what: 'Time that a proxy waits for the first snapshot',
    beyond: 'UNAVAILABLE',
  },
} as const satisfies Readonly<Record<string, ClientLimit>>;
