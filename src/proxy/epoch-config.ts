/** What an Envoy is started from: a file of the user's, a generated bootstrap, or nothing that could work. */
export type EpochConfig =
  | { readonly kind: 'given'; readonly path: string; readonly override: string }
  | {
      readonly kind: 'generated';
      readonly text: string;
      /** Envoy chooses its parser by it. */
      readonly extension: '.json' | '.yaml';
      /** YAML that Envoy lays over the bootstrap (`--config-yaml`); '' for none. */
      readonly override: string;
    }
  | { readonly kind: 'refused'; readonly reason: string };
