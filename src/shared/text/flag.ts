/** The groups of flags, in the order of a page, and their names on it. */
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
 * A flag of `proxy`: the kind of its value on the help page, its meaning, its default as a user
 * would write it, and an example of a value for the reference.
 */
export interface Flag {
  readonly group: keyof typeof flagGroups;
  /** `bool`: the flag alone means `true`, and a value can only follow after `=`. */
  readonly value: string;
  readonly text: string;
  readonly default: string;
  readonly example: string;
  /** All possible values, if they can be listed. */
  readonly choices?: readonly string[];
  /** The path of the field that it sets in the configuration, if that is not the flag's name. */
  readonly field?: string;
  /** The flag is accepted but ignored, for templates of other versions. */
  readonly ignored?: true;
  /** The flag may be given more than once; its variable has all values, separated by commas. */
  readonly repeated?: true;
  /** The variable for the same setting; the flag wins. */
  readonly variable?: string;
}
