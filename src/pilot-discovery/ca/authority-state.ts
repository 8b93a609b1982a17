import type { AuthorityReading } from './authority-files.ts';
import type { SigningAuthority } from './signing-authority.ts';

/** The authority of a control plane that runs. */
export type AuthorityState =
  /** Nothing was read yet. */
  | { readonly type: 'unread' }
  /** The control plane has no authority. */
  | { readonly type: 'absent' }
  /** There has been no valid one since the start. `flaw` is the reason. */
  | { readonly type: 'refused'; readonly flaw: string }
  /** `flaw`: why the newest reading is not used. The previous authority stays. */
  | {
      readonly type: 'signs';
      readonly path: string;
      readonly authority: SigningAuthority;
      readonly flaw: string | undefined;
    };

export const noAuthority: AuthorityState = { type: 'unread' };

/** Returns the state after a reading. Pure. */
export function afterReading(state: AuthorityState, reading: AuthorityReading): AuthorityState {
  switch (reading.type) {
    case 'authority':
      return { ...reading, type: 'signs', flaw: undefined };
    case 'refused':
      return state.type === 'signs'
        ? { ...state, flaw: reading.reason }
        : { type: 'refused', flaw: reading.reason };
    case 'absent':
      return state.type === 'signs'
        ? { ...state, flaw: `${state.path}: its files are gone` }
        : { type: 'absent' };
  }
}
