/** The end of an exhaustive switch: the compiler refuses a value that can still occur here. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
