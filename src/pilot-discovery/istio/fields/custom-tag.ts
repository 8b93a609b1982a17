/** A tag that users add to spans: a text, or a variable or a header with its default. */
export type CustomTag =
  | { readonly tag: string; readonly type: 'literal'; readonly value: string }
  | {
      readonly tag: string;
      readonly type: 'environment' | 'header';
      readonly name: string;
      readonly defaultValue: string;
    };
