import { type Observable, of } from 'rxjs';

/** A request for a token: its scope, and the token that authorizes it. */
export interface ExchangeRequest {
  readonly subjectToken: string;
  /** Empty if it is not given. */
  readonly scope: string;
}

export type Exchanged =
  | {
      readonly ok: true;
      readonly accessToken: string;
      /** In seconds. */ readonly expiresIn: number;
    }
  | { readonly ok: false; readonly reason: string };

/** A token that was received, without the token itself. Times in ms since 1970. */
interface TokenStatus {
  readonly type: string;
  readonly issued: number;
  readonly expires: number;
}

export type TokenDump =
  | { readonly ok: true; readonly tokens: readonly TokenStatus[] }
  | { readonly ok: false; readonly reason: string };

/** Exchanges tokens for other tokens. */
export interface TokenExchange {
  /** Emits one answer and completes. Never errors. */
  exchange(request: ExchangeRequest): Observable<Exchanged>;
  /** Returns the tokens that it has, or why that is not known. */
  dump(): TokenDump;
}

const reason = 'no plugin is found';

/**
 * An exchange without tokens: for a machine whose project is not known, or for an unknown plugin.
 */
export const noTokenExchange: TokenExchange = {
  exchange: () => of({ ok: false, reason }),
  dump: () => ({ ok: false, reason }),
};
