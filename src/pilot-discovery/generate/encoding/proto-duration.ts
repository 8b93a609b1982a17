/** A google.protobuf.Duration. */
export interface ProtoDuration {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** Returns milliseconds as a google.protobuf.Duration. */
export function protoDuration(ms: number): ProtoDuration {
  const seconds = Math.trunc(ms / 1000);
  return { seconds: BigInt(seconds), nanos: Math.round((ms - seconds * 1000) * 1_000_000) };
}
