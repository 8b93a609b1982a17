/** How an API server is reached, and as whom. An absent part is one that is not needed. */
export interface KubeAccess {
  /** `https://host:port`, and a path where the server is behind one. */
  readonly server: string;
  /** PEM of the roots that vouch for it. */
  readonly ca?: Buffer;
  /** The name that its certificate has to have, where it is not the host. */
  readonly servername?: string;
  readonly token?: string;
  /** PEM of what the client shows of itself. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/**
 * Looks up the access as it is now: tokens and roots are replaced while a program runs, so it is
 * done for each request. Rejects with what is wrong, where, and what to do.
 */
export type FindAccess = () => Promise<KubeAccess>;

/** What the token is called where it cannot be read. */
export const apiToken = 'the token for the Kubernetes API';
