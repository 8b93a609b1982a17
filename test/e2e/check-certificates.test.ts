import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnsecuredJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type CertificateAuthority,
  certificateAuthority,
  type Issued,
  writeCertificates,
} from '../../demo/certificates.ts';
import { leftOut } from '../support/left-out.ts';
import { flawed, flawsOf, isPermitted, makeCheck } from '../support/e2e/checked.ts';
import { certificateEnv } from '../support/e2e/rig.ts';

const nobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];
const hasUsers = isPermitted(...nobody);
if (!hasUsers) leftOut('what `check` says of certificates that may not be read (needs root)');

const hour = 3_600_000;
const from = (ms: number) => new Date(Date.now() + ms);

let ca: CertificateAuthority;
let good: Issued;
beforeAll(async () => {
  ca = await certificateAuthority();
  good = await ca.issue();
});

async function withCertificates() {
  const check = await makeCheck();
  const folder = join(check.folder, 'certs');
  mkdirSync(folder);
  const path = (name: string) => join(folder, name);
  return {
    ...check,
    path,
    write: (issued: Partial<Issued>) => writeCertificates(folder, { ...good, ...issued }),
    remove: (name: string) => rmSync(path(name)),
    look: async (wrap: readonly string[] = []) =>
      flawsOf('certificates', await check.run({}, { env: certificateEnv(folder), wrap })),
  };
}

describe('check of certificates', () => {
  it('says what a pair is for and how long it is valid, if nothing is wrong', async () => {
    const { write, run, path } = await withCertificates();
    write(good);
    const { findings } = await run({}, { env: certificateEnv(join(path('.'))) });
    const certificateFindings = findings
      .filter(({ check }) => check === 'certificates')
      .map(({ level, what }) => `${level} ${what}`);
    expect(certificateFindings).toEqual([
      expect.stringMatching(
        /^ok .*cert-chain\.pem \(CN=localhost, serial 1\w+\) is valid for 60 min$/,
      ),
      expect.stringMatching(/^ok .*root-cert\.pem \(CN=pilot-agent demo CA\) is valid for \d+ d$/),
    ]);
  });

  it('names what is missing: half a pair is worse than none', async () => {
    const { write, look, remove } = await withCertificates();
    const absent = ['cert-chain', 'key', 'root-cert'].map((name) =>
      flawed(
        'warn',
        'certificate missing',
        new RegExp(`${name}\\.pem is missing: the first Envoy waits`),
      ),
    );
    expect(await look()).toEqual(absent);
    write(good);
    remove('key.pem');
    expect(await look()).toEqual([
      flawed('fail', 'certificate missing', /key\.pem is missing, and the other half/),
    ]);
    write(good);
    expect(await look()).toEqual([]);
  });

  it('says that a key is of another certificate, and that a file is none of PEM', async () => {
    const { write, look, path } = await withCertificates();
    write({ key: (await ca.issue()).key });
    expect(await look()).toEqual([
      flawed('fail', 'certificate unusable', /cert-chain\.pem, .*key\.pem: .*key/),
    ]);
    write({ certChain: 'no PEM' });
    expect(await look()).toEqual([
      flawed('fail', 'certificate unusable', /the certificate does not parse/),
    ]);
    write({ rootCert: 'no PEM' });
    expect(await look()).toEqual([
      flawed('fail', 'certificate unusable', /root-cert\.pem: it has no root certificate/),
    ]);
    write(good);
    rmSync(path('key.pem'));
    mkdirSync(path('key.pem'));
    expect(await look()).toEqual([
      flawed('fail', 'certificate unusable', /key\.pem cannot be read: it is a directory/),
    ]);
    rmSync(path('key.pem'), { recursive: true });
    write(good);
    expect(await look()).toEqual([]);
  });

  it('says that one has expired, will soon, or is not valid yet', async () => {
    const { write, look } = await withCertificates();
    write(await ca.issue({ notBefore: from(-2 * hour), notAfter: from(-hour) }));
    expect(await look()).toEqual([
      flawed('fail', 'certificate.expired', /has expired at 20/, /issue a new certificate/),
    ]);
    write(await ca.issue({ notBefore: from(-9 * hour), notAfter: from(hour) }));
    expect(await look()).toEqual([
      flawed('warn', 'certificate.expiring', /expires in 60 min, at 20/),
    ]);
    write(await ca.issue({ notBefore: from(hour), notAfter: from(9 * hour) }));
    expect(await look()).toEqual([
      flawed('fail', 'certificate early', /is not valid before 20.*, and it is 20/, /clock/),
    ]);
    write(good);
    expect(await look()).toEqual([]);
  });

  it('says that a chain is none', async () => {
    const { write, look } = await withCertificates();
    const other = await certificateAuthority('another CA');
    write({ certChain: `${good.certChain}${other.rootCert}` });
    expect(await look()).toEqual([
      flawed('warn', 'certificate chain broken', /not signed by the one that follows it/),
    ]);
    write({ certChain: `${good.certChain}${ca.rootCert}` });
    expect(await look()).toEqual([]);
  });

  it.skipIf(!hasUsers)('says who may not read a key', async () => {
    const { write, look, path, folder } = await withCertificates();
    write(good);
    for (const open of [folder, path('.')]) chmodSync(open, 0o777);
    expect(await look(nobody)).toEqual([
      flawed(
        'fail',
        'certificate unusable',
        /key\.pem cannot be read: EACCES/,
        /let user 65534 read/,
      ),
    ]);
    chmodSync(path('key.pem'), 0o644);
    expect(await look(nobody)).toEqual([]);
  });
});

describe('check of the token', () => {
  async function withToken() {
    const check = await makeCheck();
    const path = join(check.folder, 'var/run/secrets/tokens/istio-token');
    mkdirSync(join(path, '..'), { recursive: true });
    const look = async (env: NodeJS.ProcessEnv = { CA_ADDR: '127.0.0.1:9' }) => {
      const checked = await check.run({}, { env });
      return { checked, flaws: flawsOf('token', checked) };
    };
    return { look, write: (token: string) => writeFileSync(path, token) };
  }

  const token = (audience: string, life: number) =>
    new UnsecuredJWT({ sub: 'system:serviceaccount:ns:account' })
      .setAudience(audience)
      .setExpirationTime(from(life))
      .encode();

  it('says that there is none if one is needed', async () => {
    const { look, write } = await withToken();
    expect((await look()).flaws).toEqual([
      flawed(
        'fail',
        'token missing',
        /istio-token is not there, and the certificate authority wants/,
      ),
    ]);
    expect((await look({})).flaws).toEqual([]);
    write(' \n');
    expect((await look()).flaws).toEqual([flawed('fail', 'token missing', /istio-token is empty/)]);
    write(token('istio-ca', hour));
    expect((await look()).flaws).toEqual([]);
  });

  it('says that it has expired, or is for another audience; and never what it is', async () => {
    const { look, write } = await withToken();
    const [old, other, right] = [
      token('istio-ca', -hour),
      token('kubernetes', hour),
      token('istio-ca', hour),
    ];
    const outputs: string[] = [];
    const next = async (text: string) => {
      write(text);
      const { checked, flaws } = await look();
      outputs.push(checked.output);
      return { flaws, told: checked.findings.find(({ check }) => check === 'token')?.what };
    };
    expect((await next(old)).flaws).toEqual([flawed('fail', 'token expired', /has expired at 20/)]);
    expect((await next(other)).flaws).toEqual([
      flawed('warn', 'token audience', /is for kubernetes, but istiod wants a token for istio-ca/),
    ]);
    expect(await next(right)).toEqual({
      flaws: [],
      told: expect.stringMatching(/istio-token, for istio-ca, expires in 60 min$/) as string,
    });
    expect((await next('opaque-secret')).told).toMatch(/is not a JWT/);
    for (const secret of [old, other, right]
      .flatMap((text) => text.split('.'))
      .filter((part) => part !== ''))
      expect(outputs.filter((output) => output.includes(secret))).toEqual([]);
    expect(outputs.filter((output) => output.includes('opaque-secret'))).toEqual([]);
  });
});
