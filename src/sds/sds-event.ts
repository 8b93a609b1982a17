/** What becomes of the secret discovery server, and what it does; `stream` numbers its streams. */
export type SdsEvent =
  | { readonly type: 'listening' }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'stream-opened'; readonly stream: number }
  | { readonly type: 'stream-closed'; readonly stream: number }
  | { readonly type: 'stream-refused'; readonly stream: number; readonly reason: string }
  /** Versions by name: what was sent, and what the client then made of it. */
  | { readonly type: 'pushed' | 'accepted'; readonly stream: number; readonly node: string; readonly versions: ReadonlyMap<string, string> }
  | { readonly type: 'rejected'; readonly stream: number; readonly node: string; readonly versions: ReadonlyMap<string, string>; readonly reason: string } // prettier-ignore
  /** Somebody asks for what can not be given yet, or ever. */
  | { readonly type: 'missing'; readonly stream: number; readonly node: string; readonly name: string; readonly reason: string };
