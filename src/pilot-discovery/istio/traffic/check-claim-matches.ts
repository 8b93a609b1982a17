import { claimPath, isClaim } from '../fields/claim-path.ts';
import { below, type Place, wrong } from '../fields/members.ts';
import type { HttpRoute } from './virtual-service.ts';

/** Reports wrong matches of token claims: only gateways evaluate them. */
export function checkClaimMatches(
  http: readonly HttpRoute[],
  by: 'the mesh' | 'gateways',
  place: Place,
): void {
  http.forEach(({ match }, index) => {
    match.forEach(({ headers, withoutHeaders }, number) => {
      const claims = [...Object.keys(headers), ...Object.keys(withoutHeaders)].filter(isClaim);
      const matchPlace = below(place, `http[${index}].match[${number}]`);
      const [claim] = claims;
      const unnamed = claims.find((name) => claimPath(name)?.includes('') === true);
      if (claim !== undefined && by === 'the mesh')
        wrong(matchPlace, `only gateways evaluate '${claim}': name them in gateways, without mesh`);
      else if (unnamed !== undefined)
        wrong(matchPlace, `'${unnamed}' has no name of a claim: @request.auth.claims[NAME]`);
    });
  });
}
