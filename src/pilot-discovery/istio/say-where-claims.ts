import { below, type Place, warn, wrong } from './members.ts';
import { isClaim } from './read-http-match.ts';
import type { HttpRoute } from './virtual-service.ts';

/** Says where claims of a token are matched: gateways look at them, but there is no JWT yet. */
export function sayWhereClaims(
  http: readonly HttpRoute[],
  by: 'the mesh' | 'gateways',
  place: Place,
): void {
  http.forEach(({ match }, index) => {
    match.forEach(({ headers, withoutHeaders }, number) => {
      const claim = [...Object.keys(headers), ...Object.keys(withoutHeaders)].find(isClaim);
      const at = below(place, `http[${index}].match[${number}]`);
      if (claim === undefined) return;
      if (by === 'the mesh')
        wrong(at, `'${claim}' is looked at by gateways alone: name them in gateways, without mesh`);
      else warn(at, `'${claim}' is of a token, which is not served yet: no request has it`);
    });
  });
}
