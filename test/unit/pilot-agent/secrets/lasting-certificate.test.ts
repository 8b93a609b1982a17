import { beforeAll, describe, expect, it } from 'vitest';
import { certificateAuthority, type Issued } from '../../../../demo/certificates.ts';
import { lastingCertificate } from '../../../../src/pilot-agent/secrets/certificates.ts';

describe('of several certificates', () => {
  let [early, late]: readonly Issued[] = [];
  const soon = Math.floor(Date.now() / 1_000) * 1_000 + 60_000;
  beforeAll(async () => {
    const ca = await certificateAuthority();
    [early, late] = [
      await ca.issue({ notAfter: new Date(soon) }),
      await ca.issue({ notAfter: new Date(2 * soon) }),
    ];
  });

  it('the first to expire is the end of a chain, and the last one that of roots', () => {
    const both = `${late?.certChain ?? ''}${early?.certChain ?? ''}`;
    expect(
      lastingCertificate({ kind: 'pair', chain: both, key: Buffer.alloc(0) })?.serialNumber,
    ).toBe(early?.serial);
    expect(lastingCertificate({ kind: 'roots', roots: both })?.serialNumber).toBe(late?.serial);
    expect(lastingCertificate({ kind: 'roots', roots: '' })).toBeUndefined();
  });
});
