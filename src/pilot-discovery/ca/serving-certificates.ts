import { generateKeyPairSync } from 'node:crypto';
import { isIPv4 } from 'node:net';
import {
  asyncScheduler,
  distinctUntilChanged,
  EMPTY,
  map,
  type Observable,
  race,
  repeat,
  type SchedulerLike,
  switchMap,
  defer,
} from 'rxjs';
import { clockStepsBack } from '../../operators/clock-steps-back.ts';
import { clockTimer } from '../../operators/clock-timer.ts';
import { privateKeyPem } from '../../shared/certificates/private-key-pem.ts';
import type { AuthorityState } from './authority-state.ts';
import { certify } from './certify.ts';
import type { SigningAuthority } from './signing-authority.ts';
import type { AlternativeName } from './write-certificate.ts';

/** A certificate of the control plane with its key, and the roots of the mesh; all PEM. */
export interface ServingCertificate {
  readonly chain: string;
  /** Overwrite it when it is in use. */
  readonly key: Buffer;
  readonly roots: string;
}

/** In ms. It is not configurable: a new certificate costs almost nothing. */
const lifetime = 24 * 3_600_000;
/** A new certificate is made when half of the lifetime is over. */
const share = 0.5;
/** In ms. The shortest time between two certificates, if the authority ends in a moment. */
const shortest = 1_000;

/**
 * Emits a certificate for a server with these names (DNS names, and IPv4 addresses), by the
 * authority of the mesh: when the authority appears or changes, when half of the certificate's
 * lifetime is over, and when the clock has gone back. Each certificate has a new key. Cold; never
 * completes, errors only by a bug.
 */
export function servingCertificates(
  authority$: Observable<AuthorityState>,
  names: readonly string[],
  scheduler: SchedulerLike = asyncScheduler,
): Observable<ServingCertificate> {
  return authority$.pipe(
    map((state) => (state.type === 'signs' ? state.authority : undefined)),
    distinctUntilChanged((before, after) => before?.fingerprint === after?.fingerprint),
    switchMap((authority) =>
      authority === undefined
        ? EMPTY
        : defer(() => servingCertificate(authority, names, scheduler.now())).pipe(
            repeat({
              delay: () =>
                race(
                  clockTimer(pauseFor(authority, scheduler.now()), scheduler),
                  clockStepsBack(scheduler), // the certificate is then not valid yet
                ),
            }),
          ),
    ),
  );
}

function pauseFor({ notAfter }: SigningAuthority, now: number): number {
  return Math.max(Math.min(lifetime, notAfter - now) * share, shortest);
}

async function servingCertificate(
  authority: SigningAuthority,
  names: readonly string[],
  now: number,
): Promise<ServingCertificate> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { chain } = await certify(
    authority,
    { publicKey, names: names.map(nameOf), lifetime },
    now,
  );
  return {
    chain: chain.slice(0, -1).join(''),
    key: privateKeyPem(privateKey, 'pkcs8'),
    roots: authority.roots.join(''),
  };
}

const nameOf = (name: string): AlternativeName => [isIPv4(name) ? 'address' : 'dns', name];
