import { describe, expect, it } from 'vitest';
import { claimPath } from '../../../../../src/pilot-discovery/istio/fields/claim-path.ts';

describe('the claim that a match of a header is for', () => {
  it.each<[name: string, path: readonly string[] | undefined]>([
    ['@request.auth.claims.sub', ['sub']],
    ['@request.auth.claims.realm.roles', ['realm', 'roles']],
    ['@request.auth.claims[realm][roles]', ['realm', 'roles']],
    ['@request.auth.claims[https://a.example.com/groups]', ['https://a.example.com/groups']],
    ['@request.auth.claims[]', ['']],
    ['@request.auth.claims[a', ['']],
    ['@request.auth.claims.', ['']],
    ['@request.auth.claims.a..b', ['a', '', 'b']],
    ['@request.auth.claims', undefined],
    ['@request.auth.claimsX', undefined],
    ['request.auth.claims.sub', undefined],
    ['x-user', undefined],
  ])('%s', (name, path) => {
    expect(claimPath(name)).toEqual(path);
  });
});
