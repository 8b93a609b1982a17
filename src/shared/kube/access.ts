/**
 * The address of an API server, and the credentials for it. A part that is not needed is absent.
 */
export interface KubeAccess {
  /** `https://host:port`, with a path if the server is behind one. */
  readonly server: string;
  /** PEM of the roots that verify it. */
  readonly ca?: Buffer;
  /** The name that its certificate must have, if it is not the host. */
  readonly servername?: string;
  readonly token?: string;
  /** PEM of the client's certificate. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/**
 * Looks up the current access: tokens and roots change while a program runs, so this is done for
 * each request. Rejects with the problem, its place, and what to do.
 */
export type FindAccess = () => Promise<KubeAccess>;

/** The name of the token in messages about it. */
export const apiToken = 'the token for the Kubernetes API';
