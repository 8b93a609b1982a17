/** A way to speak gRPC for Node, as far as the comparison needs it: one method, both directions. */
export interface Transport {
  /** Serves at a loopback port. Each request is answered with `answers` times `bytes`. */
  readonly serve: (port: number, answer: Answer) => void;
  /** Connects to a loopback port. */
  readonly connect: (port: number) => Client;
}

export interface Answer {
  /** A message that is encoded. */
  readonly bytes: Uint8Array;
  /** How often each request is answered with it. */
  readonly times: number;
}

export interface Client {
  /** Opens a stream, sends one request and resolves at the first answer. The stream stays open. */
  readonly open: () => Promise<void>;
}

export const method =
  '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources';
/** The version in the request of each client. */
export const version = 'a'.repeat(2_045);

/** A DiscoveryRequest or DiscoveryResponse of which only the version is set, encoded. Pure. */
export const encoded = (text: string): Uint8Array =>
  Buffer.concat([Buffer.from([0x0a]), lengthDelimited(Buffer.from(text))]);

/** Bytes behind their length, as protobuf encodes them. Pure. */
export function lengthDelimited(bytes: Uint8Array): Uint8Array {
  const size: number[] = [];
  for (let rest = bytes.length; rest > 0; rest >>>= 7)
    size.push(rest < 128 ? rest : (rest & 127) | 128);
  return Buffer.concat([Buffer.from(size), bytes]);
}

/** A message of gRPC: the five bytes before it, and its own. Pure. */
export const framed = (bytes: Uint8Array): Uint8Array =>
  Buffer.concat([prefix(bytes.length), bytes]);

/** The five bytes before a message that is not compressed. Pure. */
export function prefix(length: number): Uint8Array {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(length, 1);
  return bytes;
}
