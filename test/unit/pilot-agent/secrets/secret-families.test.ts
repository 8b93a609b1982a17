import { beforeAll, describe, expect, it } from 'vitest';
import { certificateAuthority } from '../../../../demo/certificates.ts';
import type { Secret } from '../../../../src/pilot-agent/secrets/secret.ts';
import { secretFamilies } from '../../../../src/pilot-agent/secrets/secret-telemetry.ts';

const now = Math.floor(Date.now() / 1_000) * 1_000; // certificates count in whole seconds

describe('the metrics of secrets', () => {
  let early: string;
  let late: string;
  beforeAll(async () => {
    const ca = await certificateAuthority();
    const until = async (seconds: number) =>
      (await ca.issue({ notAfter: new Date(now + seconds * 1_000) })).certChain;
    [early, late] = await Promise.all([until(600), until(3_600)]);
  });

  const samples = (name: string, secret?: Secret, refused?: string) => {
    const served = secret && { secret, version: '1' };
    const families = secretFamilies(
      [{ name: 'default', source: 'files', offered: served, served, refused, by: 'reading' }],
      now,
    );
    return families.find((family) => family.name === name)?.samples;
  };
  const expiry = (secret?: Secret) => samples('istio_agent_cert_expiry_seconds', secret);

  it('have how long a secret is valid: as long as the first of its certificates to expire', () => {
    const expected = [{ labels: { resource_name: 'default' }, value: 600 }];
    expect(expiry({ kind: 'roots', roots: early + late })).toEqual(expected);
    expect(expiry({ kind: 'roots', roots: late + early })).toEqual(expected);
    expect(expiry({ kind: 'pair', chain: late + early, key: Buffer.alloc(0) })).toEqual(expected);
  });

  it('have nothing of when a secret expires that is not served', () => {
    expect(expiry()).toEqual([]);
  });

  it('have whether what came last is refused', () => {
    const secret: Secret = { kind: 'roots', roots: late };
    expect(samples('istio_agent_secret_refused', secret)).toMatchObject([{ value: 0 }]);
    expect(samples('istio_agent_secret_refused', secret, 'the key is empty')).toMatchObject([
      { value: 1 },
    ]);
  });
});
