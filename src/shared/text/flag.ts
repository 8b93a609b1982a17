/** What a flag is about, and how a page names that: the groups of flags, in the order of a page. */
export const flagGroups = {
  Envoy: 'Envoy',
  mesh: 'Mesh',
  certificates: 'Certificates and tokens',
  lifecycle: 'Lifecycle',
  status: 'Status, metrics and traces',
  sources: 'Sources of configuration',
  logging: 'Logging',
} as const;

/**
 * A flag of `proxy`: its value's kind on the help page, what it means, and its default as a user
 * would write it.
 */
export interface Flag {
  readonly group: keyof typeof flagGroups;
  /** `bool`: the flag alone is `true`, and a value follows after `=` only. */
  readonly value: string;
  readonly text: string;
  readonly default: string;
  /** All values that there are, where they can be listed. */
  readonly choices?: readonly string[];
  /** The path of what it sets in the configuration, where that is not the flag's name. */
  readonly field?: string;
  /** Taken for the sake of templates that were made for other versions. */
  readonly ignored?: true;
  /** It may be given more than once; a variable has all values, with commas between them. */
  readonly repeated?: true;
  /** The variable that says the same; the flag wins. */
  readonly variable?: string;
}
