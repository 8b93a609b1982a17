/** In JSON, an entry of a map with this name would change the prototype of the object. */
const forbidden = '__proto__';

/** Returns why the bytes of a message have a name that is not accepted; undefined if none. Pure. */
export const forbiddenName = ({ buffer, byteOffset, length }: Uint8Array): string | undefined =>
  Buffer.from(buffer, byteOffset, length).includes(forbidden)
    ? `it has a name that is not accepted: ${forbidden}`
    : undefined;
