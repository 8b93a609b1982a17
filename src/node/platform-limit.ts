/** How long a metadata server is waited for in all, in ms: as in the Go agent, but nothing waits meanwhile. */
export const platformLimit = 5_000;
