/** What became of a request to an authority. `took` and `delay`, until the next one, are in ms. */
export type CaEvent =
  | { readonly type: 'issued'; readonly took: number; readonly delay: number }
  | { readonly type: 'request-failed'; readonly reason: string; readonly failures: number; readonly took: number; readonly delay: number };
