import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BehaviorSubject, Subject, type Subscription } from 'rxjs';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { keepServed } from '../../../../src/pilot-agent/secrets/keep-served.ts';
import type {
  SecretAnswer,
  SecretState,
  SetReading,
} from '../../../../src/pilot-agent/secrets/secret.ts';
import { crlFile, withCrl } from '../../../../src/pilot-agent/secrets/with-crl.ts';
import { parseCrls, type ParsedCrls } from '../../../../src/shared/certificates/parse-crls.ts';
import { type TestIssuer, testIssuer } from '../../../support/plugged-authority.ts';
import { testCrl } from '../../../support/test-crl.ts';

let root: TestIssuer;
let middle: TestIssuer;
let ofRoot: string;
let ofMiddle: string;
let subscription: Subscription | undefined;

beforeAll(async () => {
  root = await testIssuer();
  middle = await testIssuer({ subject: 'CN=middle' }, root);
  [ofRoot, ofMiddle] = [await testCrl(root), await testCrl(middle)];
});
afterEach(() => subscription?.unsubscribe());

const source = 'files';
const rooted = (chain = ''): SetReading => ({
  type: 'set',
  source,
  set: {
    roots: root.certificate,
    ...(chain !== '' && { pair: { chain, key: Buffer.alloc(0) } }),
  },
});
const text = (crls: string): ParsedCrls => parseCrls({ kind: 'text', text: crls });

/** Follows the readings of a set, with a CRL file of this content. */
function follow(content: ParsedCrls, rootsAre: 'of the mesh' | 'of others' = 'of the mesh') {
  const content$ = new BehaviorSubject(content);
  const set$ = new Subject<SetReading>();
  const readings: SetReading[] = [];
  subscription = set$.pipe(withCrl({ place: 'ca-crl.pem', content$ }, rootsAre)).subscribe({
    next: (reading) => readings.push(reading),
    error: expect.unreachable,
  });
  return { content$, set$, readings };
}

describe('the roots of a set', () => {
  it('get the CRLs, and are emitted again when these change', () => {
    const { content$, set$, readings } = follow({ kind: 'absent' });
    set$.next(rooted());
    content$.next(text(ofRoot));
    expect(readings).toEqual([
      rooted(),
      { type: 'set', source, set: { roots: root.certificate, crl: ofRoot } },
    ]);
  });

  it('need a CRL of each authority in the chain of the pair too', () => {
    const { content$, set$, readings } = follow(text(ofRoot));
    set$.next(rooted(`${root.certificate}${middle.certificate}`));
    expect(readings.at(-1)).toMatchObject({
      crlFlaw:
        'ca-crl.pem: the CRL of the authority CN=middle is missing; no certificate counts as revoked',
    });
    expect(readings.at(-1)).not.toHaveProperty('set.crl');
    content$.next(text(ofRoot + ofMiddle));
    expect(readings.at(-1)).toHaveProperty('set.crl', ofRoot + ofMiddle);
    expect(readings.at(-1)).not.toHaveProperty('crlFlaw');
    content$.next(text('x'));
    expect(readings.at(-1)).toMatchObject({
      set: { crl: ofRoot + ofMiddle },
      crlFlaw: 'ca-crl.pem: it has no X509 CRL; the previous CRLs stay in use',
    });
  });

  it('get new CRLs while their authority is away, which is still said afterwards', () => {
    const { content$, set$, readings } = follow(text(''));
    const away: SetReading = { type: 'refused', source, reason: 'away' };
    set$.next(away);
    set$.next(rooted());
    set$.next(away);
    set$.next({ ...away });
    expect(readings).toEqual([away, rooted(), away, away]);
    content$.next(text(ofRoot));
    expect(readings.slice(4)).toMatchObject([{ set: { crl: ofRoot } }, away]);
  });

  it('of others get none, unless a CRL is theirs', async () => {
    const foreign = await testCrl(await testIssuer({ subject: 'CN=foreign' }));
    const { content$, set$, readings } = follow(text(foreign), 'of others');
    set$.next(rooted());
    expect(readings).toEqual([rooted()]);
    content$.next(text(ofRoot));
    expect(readings.at(-1)).toHaveProperty('set.crl', ofRoot);
  });
});

describe('roots by trust domain, as SPIRE gives them', () => {
  const trustDomains = [{ name: 'mesh.example', roots: '' }];
  const bundle = (): SetReading => ({
    type: 'set',
    source,
    set: { roots: root.certificate, trustDomains },
  });

  it('get no CRLs, and say so if one of them is theirs', () => {
    const { content$, set$, readings } = follow(text(ofRoot));
    set$.next(bundle());
    expect(readings).toEqual([
      {
        ...bundle(),
        crlFlaw:
          'ca-crl.pem: Envoy takes no CRL beside roots by trust domain (SPIRE); no certificate counts as revoked',
      },
    ]);
    content$.next({ kind: 'absent' });
    expect(readings.at(-1)).toEqual(bundle());
  });

  it('need none, so those of another authority are nothing to say', () => {
    const { content$, set$, readings } = follow(text(ofMiddle));
    set$.next(bundle());
    content$.next(text('x'));
    expect(readings).toEqual([bundle()]);
  });
});

describe('the state of the roots', () => {
  let event$: Subject<SetReading | SecretAnswer>;
  let states: SecretState[];
  beforeEach(() => {
    event$ = new Subject();
    states = [];
    subscription = event$.pipe(keepServed('ROOTCA', 'roots')).subscribe({
      next: (state) => states.push(state),
      error: expect.unreachable,
    });
  });

  it('has the reason for the CRLs that are missing, and serves the roots', () => {
    event$.next({ ...rooted(), crlFlaw: 'why' } as SetReading);
    expect(states).toMatchObject([
      { refused: 'why', served: { secret: { roots: root.certificate } } },
    ]);
  });

  it('has no CRLs if Envoy NACKs the first ones: without roots it would refuse everybody', () => {
    event$.next({ type: 'set', source, set: { roots: root.certificate, crl: ofRoot } });
    const version = states.at(-1)?.offered?.version ?? '';
    event$.next({ type: 'pushed', version });
    event$.next({ type: 'rejected', version, reason: 'Failed to load CRL' });
    expect(states.at(-1)).toMatchObject({
      served: { secret: { kind: 'roots', roots: root.certificate } },
      refused: 'Envoy rejects it: Failed to load CRL; no certificate counts as revoked',
    });
    expect(states.at(-1)).not.toHaveProperty('served.secret.crl');
  });

  it('has the CRLs before if Envoy NACKs later ones', () => {
    const later: SetReading = { type: 'set', source, set: { roots: root.certificate, crl: 'x' } };
    event$.next({ type: 'set', source, set: { roots: root.certificate, crl: ofRoot } });
    event$.next({ type: 'accepted', version: states.at(-1)?.offered?.version ?? '' });
    event$.next(later);
    const version = states.at(-1)?.offered?.version ?? '';
    event$.next({ type: 'rejected', version, reason: 'Failed to load CRL' });
    expect(states.at(-1)).toHaveProperty('served.secret.crl', ofRoot);
  });
});

describe('the file', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'crl-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is read at once and after each change; without a path there is none', async () => {
    const path = join(folder, 'ca-crl.pem');
    const contents: ParsedCrls[] = [];
    subscription = crlFile(path).content$.subscribe({
      next: (content) => contents.push(content),
      error: expect.unreachable,
    });
    await expect.poll(() => contents).toEqual([{ kind: 'absent' }]);
    writeFileSync(path, 'crl');
    await expect.poll(() => contents.at(-1)).toEqual(text('crl'));
    subscription.unsubscribe();
    subscription = crlFile('').content$.subscribe({
      next: (content) => contents.push(content),
      error: expect.unreachable,
    });
    expect(contents.at(-1)).toEqual({ kind: 'absent' });
  });
});
