import { readFile } from 'node:fs/promises';
import { defer, type Observable, type SchedulerLike } from 'rxjs';
import type { Verdict } from '../agent/ports.ts';

/** The two files that a TLS identity is made of. */
export interface KeyPair {
  readonly chain: string;
  readonly key: string;
}

/**
 * Reads each pair as it is on disk now, and emits whether all can be served. Cold; one verdict; never errors.
 *
 * A pair of which nothing is there passes: whether Envoy needs it, Envoy knows. Half a pair is on its way, and does not.
 */
export function checkPairs(pairs: readonly KeyPair[], scheduler: SchedulerLike): Observable<Verdict> {
  return defer(async (): Promise<Verdict> => {
    const { keyPairFlaw } = await import('../secrets/key-pair-flaw.ts');
    for (const pair of pairs) {
      const [chain, key] = await Promise.all([read(pair.chain), read(pair.key)]);
      if (chain === undefined && key === undefined) continue;
      if (key === undefined) return refusal(pair.key, 'the key is missing');
      if (chain === undefined) return refusal(pair.chain, 'the certificate is missing');
      const flaw = keyPairFlaw(chain, key, scheduler.now());
      if (flaw !== undefined) return refusal(pair.chain, flaw);
    }
    return { ok: true };
  });
}

function refusal(path: string, flaw: string): Verdict {
  return { ok: false, reason: `${path}: ${flaw}` };
}

async function read(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
