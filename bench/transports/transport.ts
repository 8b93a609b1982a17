/** A way to speak gRPC for Node, as far as the comparison needs it: one method, both directions. */
export interface Transport {
  /** Serves at a loopback port. It answers each request `times` times with `bytes`. */
  readonly serve: (port: number, answer: Answer) => void;
  /** Connects to a loopback port. */
  readonly connect: (port: number) => Client;
}

export interface Answer {
  /** A message that is encoded. */
  readonly bytes: Uint8Array;
  /** How often this message is sent for each request. */
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

/** The length of some bytes, then the bytes, as protobuf encodes them. Pure. */
export function lengthDelimited(bytes: Uint8Array): Uint8Array {
  const size: number[] = [];
  for (let rest = bytes.length; rest > 0; rest >>>= 7)
    size.push(rest < 128 ? rest : (rest & 127) | 128);
  return Buffer.concat([Buffer.from(size), bytes]);
}

/** A message of gRPC: a prefix of five bytes, then the message. Pure. */
export const framed = (bytes: Uint8Array): Uint8Array =>
  Buffer.concat([prefix(bytes.length), bytes]);

/** The prefix of five bytes of a message that is not compressed. Pure. */
export function prefix(length: number): Uint8Array {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(length, 1);
  return bytes;
}
