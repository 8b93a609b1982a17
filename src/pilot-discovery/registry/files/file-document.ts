/** One document of a file, or one item of a `List`. */
export interface FileDocument {
  readonly bytes: Buffer;
  /** The number of lines in front of it. */
  readonly before: number;
}
