import { distinctUntilChanged, map, type OperatorFunction, scan } from 'rxjs';
import { keysId } from '../../environment/fetched-keys.ts';
import { eachOf, type Resources } from '../../environment/resources.ts';
import type { Store } from '../../environment/store.ts';
import { keyOf } from '../../istio/documents/model.ts';
import { type KeysRequest, keysSourceName, type WantedKeys } from './keys-source.ts';

type User = WantedKeys['users'][number];

interface Seen {
  /** The RequestAuthentications of the last store. */
  readonly rules: unknown;
  readonly request: KeysRequest;
}

/** Emits the keys that a store needs, each time they change. */
export function keysRequests(): OperatorFunction<Store, KeysRequest> {
  return (store$) =>
    store$.pipe(
      scan((before: Seen | undefined, { resources, sources }: Store): Seen => {
        const rules = resources.get('RequestAuthentication');
        const isRead = [...sources].every(
          ([name, { isSynced }]) => isSynced || name === keysSourceName,
        );
        const others = isRead ? 'synced' : 'reading';
        const isSame = before !== undefined && before.rules === rules;
        if (isSame && before.request.others === others) return before;
        const wanted = isSame ? before.request.wanted : wantedKeys(resources);
        return { rules, request: { wanted, others } };
      }, undefined),
      map((wanted) => wanted?.request),
      distinctUntilChanged(),
      map((request) => request ?? { wanted: new Map(), others: 'reading' }),
    );
}

/** Returns the keys that the rules of all RequestAuthentications need. Pure. */
function wantedKeys(resources: Resources): KeysRequest['wanted'] {
  const wanted = new Map<string, WantedKeys & { readonly users: User[] }>();
  for (const authentication of eachOf(resources, 'RequestAuthentication')) {
    const { effect } = authentication.spec;
    const rules = effect.type === 'tokens' ? effect.rules : [];
    rules.forEach(({ keys }, index) => {
      if (keys.type === 'known') return;
      const { from } = keys;
      const member = from.has === 'keys' ? 'jwksUri' : 'issuer';
      const field = `spec.jwtRules[${index}].${member}`;
      const user = { key: keyOf(authentication), origin: authentication.origin, field };
      const existing = wanted.get(keysId(from));
      if (existing === undefined) wanted.set(keysId(from), { from, users: [user] });
      else existing.users.push(user);
    });
  }
  return wanted;
}
