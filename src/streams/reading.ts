// Why: docs/decisions/024-the-hash-covers-path-and-length.md
/** A part of the configuration that differs from the reading before. */
export interface Change {
  /** The name of the source. */
  readonly source: string;
  /** The path of a file, or the name of a member; '' for the source as a whole. */
  readonly part: string;
  /**
   * A text by which a person recognizes the part, before and after the change, if it has one: the
   * serial of a certificate.
   */
  readonly from?: string;
  readonly to?: string;
}

/** The configuration at one moment. */
export interface Reading<Config> {
  /**
   * sha256 (hex) of everything that an Envoy would be started from. Two readings with the same hash
   * are the same.
   */
  readonly hash: string;
  readonly config: Config;
  /** The differences from the reading before; empty for the first one. */
  readonly changed: readonly Change[];
}
