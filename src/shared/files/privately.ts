/** The permissions that only the owner gets; a socket needs no execute bit. */
const ownersOnly = 0o177;

/**
 * Runs `make`, so that files it makes belong to their owner alone (0600): a socket gets its mode
 * from the mask when it is bound, and a later `chmod` would leave time in which others could
 * connect. Synchronous, because the mask is that of the whole process.
 */
export function privately<T>(make: () => T): T {
  const before = process.umask(ownersOnly);
  try {
    return make();
  } finally {
    process.umask(before);
  }
}
