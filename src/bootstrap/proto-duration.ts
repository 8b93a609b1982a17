/** A duration in the JSON of protobuf: seconds, with 3 or 9 digits of a fraction if there is one. Takes ms. Pure. */
export function protoDuration(ms: number): string {
  const digits = ms % 1000 === 0 ? 0 : Number.isInteger(ms) ? 3 : 9;
  return `${(ms / 1000).toFixed(digits)}s`;
}
