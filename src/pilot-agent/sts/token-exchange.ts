import { type Observable, of } from 'rxjs';

/** What somebody wants a token for, and by which token. */
export interface ExchangeRequest {
  readonly subjectToken: string;
  /** Empty where it is not said. */
  readonly scope: string;
}

export type Exchanged =
  | {
      readonly ok: true;
      readonly accessToken: string;
      /** In seconds. */ readonly expiresIn: number;
    }
  | { readonly ok: false; readonly reason: string };

/** A token that was got, but for itself. Times in ms since 1970. */
interface TokenStatus {
  readonly type: string;
  readonly issued: number;
  readonly expires: number;
}

export type TokenDump =
  | { readonly ok: true; readonly tokens: readonly TokenStatus[] }
  | { readonly ok: false; readonly reason: string };

/** Whoever gets tokens for tokens. */
export interface TokenExchange {
  /** Emits one answer and completes. Never errors. */
  exchange(request: ExchangeRequest): Observable<Exchanged>;
  /** The tokens that it has, or why that can not be said. */
  dump(): TokenDump;
}

const reason = 'no plugin is found';

/**
 * Where nobody can get tokens: on a machine whose project is not known, or with a plugin that is
 * not known.
 */
export const noTokenExchange: TokenExchange = {
  exchange: () => of({ ok: false, reason }),
  dump: () => ({ ok: false, reason }),
};
