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
    what: 'Names in a list of a request, and of a type that a stream follows',
    beyond: 'RESOURCE_EXHAUSTED',
  },
  node: {
    value: 256 << 10,
    unit: 'bytes',
    what: 'What a request says of its node',
    beyond: 'RESOURCE_EXHAUSTED',
  },
  text: {
    value: 4_096,
    unit: 'characters',
    what: 'A type, and the id of a node',
    beyond: 'RESOURCE_EXHAUSTED',
  },
  unservedTypes: {
    value: 32,
    unit: '',
    what: 'Types that are not served, on a stream',
    beyond: 'RESOURCE_EXHAUSTED',
  },
  unknownEndpoints: {
    value: 10_000,
    unit: '',
    what: 'Endpoints that nobody has, in an answer',
    beyond: 'the next ones follow its ACK',
  },
  unfinishedOfConnection: {
    value: 2,
    unit: '',
    what: 'Requests of the largest size, not finished, on a connection',
    beyond: 'RESOURCE_EXHAUSTED for the stream that goes beyond',
  },
  unfinishedInAll: {
    value: 16,
    unit: '',
    what: 'Requests of the largest size, not finished, of all connections',
    beyond: 'RESOURCE_EXHAUSTED for the oldest one',
  },
  streamsOfConnection: {
    value: 100,
    unit: '',
    what: 'Streams on a connection',
    beyond: 'HTTP/2 refuses the next one',
  },
  streams: {
    value: 10_000,
    unit: '',
    what: 'Streams on which something was asked for, of all connections',
    beyond: 'RESOURCE_EXHAUSTED for the next one',
  },
  silentStreams: {
    value: 1_000,
    unit: '',
    what: 'Streams without a request, of all connections',
    beyond: 'RESOURCE_EXHAUSTED for the oldest one',
  },
  connections: {
    value: 10_000,
    unit: '',
    what: 'Connections',
    beyond: 'the oldest one without a request is closed, or else the newest',
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
    what: 'Time until the first request, of a stream and of a connection',
    beyond: 'it is ended',
  },
  idle: {
    value: 300_000,
    unit: 'ms',
    what: 'Time of a connection without a stream',
    beyond: 'it is closed',
  },
  writing: {
    value: 5,
    unit: 'ms',
    what: 'Time that a proxy which does not read keeps its place in the queue',
    beyond: 'the next proxy has its turn',
  },
  unreadAnswers: {
    value: 4,
    unit: '',
    what: 'Answers that a proxy has accepted without reading them',
    beyond: 'the stream is ended if they have too many bytes as well',
  },
  unreadBytes: {
    value: 16 << 20,
    unit: 'bytes',
    what: 'The bytes of these answers',
    beyond: 'the stream is ended',
  },
  session: {
    value: 64_000_000,
    unit: 'bytes',
    what: 'What HTTP/2 keeps for a connection that does not read',
    beyond: 'it takes no new stream',
  },
  firstSnapshot: {
    value: 5_000,
    unit: 'ms',
    what: 'Time that a proxy waits for the first snapshot',
    beyond: 'UNAVAILABLE',
  },
} as const satisfies Readonly<Record<string, ClientLimit>>;
