/** What nobody but the owner gets; a socket has no bit of execution that would count. */
const ownersOnly = 0o177;

/**
 * Runs `make`, and what it makes in that moment is its owner's alone (0600): a socket gets its mode
 * from the mask when it is bound, and a `chmod` would come after others could have connected.
 * Synchronous, as the mask is that of the whole process.
 */
export function privately<T>(make: () => T): T {
  const before = process.umask(ownersOnly);
  try {
    return make();
  } finally {
    process.umask(before);
  }
}
