import { map, type Observable, of, type SchedulerLike, take, timeout } from 'rxjs';
import { certificateCaller } from './certificate-caller.ts';
import type { Identify } from './identified-calls.ts';
import { type CallerIdentity, unauthenticated } from './caller-identity.ts';
import type { Presented } from './presented.ts';

/** The longest time until a caller is authenticated, in ms. */
const longest = 10_000;

const late: CallerIdentity = {
  ok: false,
  fault: 'unavailable',
  reason: 'the trust domain of the mesh is not read yet, or the caller cannot be checked in time',
};

/**
 * Returns how a caller is authenticated: by its client certificate, if it presents one.
 *
 * @param trustDomain$ emits the mesh's trust domain at once, if it is read, otherwise once it is
 */
export function identifyBy(trustDomain$: Observable<string>, scheduler: SchedulerLike): Identify {
  return (presented) =>
    trustDomain$.pipe(
      take(1),
      map((trustDomain) => identityOf(presented, trustDomain, scheduler.now())),
      timeout({ first: longest, with: () => of(late), scheduler }),
    );
}

function identityOf({ certificate }: Presented, trustDomain: string, now: number): CallerIdentity {
  switch (certificate.type) {
    case 'refused':
      return unauthenticated(`the client certificate is not verified: ${certificate.reason}`);
    case 'verified':
      return certificateCaller(certificate.certificate, trustDomain, now);
    case 'none':
      return unauthenticated('there is no client certificate');
  }
}
