import { of } from 'rxjs';
import type { TokenExchange } from './token-exchange.ts';

const reason = 'no plugin is found';

/** Where nobody can get tokens: on a machine whose project is not known, or with a plugin that is not known. */
export const noTokenExchange: TokenExchange = {
  exchange: () => of({ ok: false, reason }),
  dump: () => ({ ok: false, reason }),
};
