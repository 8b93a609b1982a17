import { beforeAll, describe, expect, it } from 'vitest';
import { caFamilies } from '../../../../src/pilot-discovery/ca/ca-families.ts';
import {
  type AuthorityEvent,
  caLack,
  caNote,
  type CaView,
  foldCa,
  initialCa,
} from '../../../../src/pilot-discovery/ca/ca-view.ts';
import { narrateCa } from '../../../../src/pilot-discovery/ca/narrate-ca.ts';
import { signingAuthority } from '../../../../src/pilot-discovery/ca/signing-authority.ts';
import { pluggedAuthority, testIssuer } from '../../../support/plugged-authority.ts';
import type { RootMapsNews } from '../../../../src/pilot-discovery/ca/reduce-root-maps.ts';
import { noCrl, type ServedCrl } from '../../../../src/shared/certificates/serve-crl.ts';

const refused: AuthorityEvent = {
  type: 'authority-read',
  reading: { type: 'refused', reason: '/etc/cacerts: the key is empty' },
};
const [identity, address] = ['spiffe://cluster.local/ns/shop/sa/cart', '127.0.0.1:4000'];
let first: AuthorityEvent;
let withTwoRoots: AuthorityEvent;
let foreign: AuthorityEvent;

beforeAll(async () => {
  const [root, next] = await Promise.all([testIssuer(), testIssuer({ subject: 'CN=next' })]);
  const parts = await pluggedAuthority({}, root);
  const read = (changed: Partial<typeof parts>): AuthorityEvent => {
    const result = signingAuthority({ ...parts, ...changed }, Date.now());
    if (!result.ok) throw new Error(result.reason);
    const reading = {
      type: 'authority',
      path: '/etc/cacerts',
      authority: result.authority,
      crl: { kind: 'absent' },
    } as const;
    return { type: 'authority-read', reading };
  };
  first = read({});
  withTwoRoots = read({ roots: parts.roots + next.certificate });
  foreign = read(await pluggedAuthority({}, next));
});

const after = (...events: readonly AuthorityEvent[]) => events.reduce(foldCa, initialCa);
const linesOf = (view: CaView, event: AuthorityEvent) =>
  narrateCa(view, event).map(({ event: code }) => code);
const metrics = (view: CaView) =>
  Object.fromEntries(
    caFamilies(view).flatMap(({ name, samples }) =>
      samples.map(({ labels, value }) => [[name, ...Object.values(labels ?? {})].join(' '), value]),
    ),
  );

describe('the certificate authority', () => {
  it('is not ready before it has a key, and says why', () => {
    expect(caLack(initialCa)).toBe('the certificate authority has no key: it is being read');
    expect(caLack(after(refused))).toContain('/etc/cacerts: the key is empty');
    expect(caLack(after(refused, first))).toBeUndefined();
  });

  it('is ready without an authority, unless its files are gone', () => {
    const absent = { type: 'authority-read', reading: { type: 'absent' } } as const;
    expect(caLack(after(absent))).toBeUndefined();
    expect(linesOf(initialCa, absent)).toEqual([]);
    expect(caNote(after(first, absent))).toContain('/etc/cacerts: its files are gone');
    expect(linesOf(after(first), absent)).toEqual(['discovery.authority_refused']);
  });

  it('stays ready with the key before, and notes why the newest one is not used', () => {
    expect(caLack(after(first, refused))).toBeUndefined();
    expect(caNote(after(first, refused))).toContain('/etc/cacerts: the key is empty');
    expect(caNote(after(first))).toBeUndefined();
    expect(caNote(after(first, refused, first))).toBeUndefined();
  });

  it('logs each key, and warns if no root of the mesh is left', () => {
    expect(linesOf(initialCa, first)).toEqual(['discovery.authority_ready']);
    expect(linesOf(after(first), withTwoRoots)).toEqual(['discovery.authority_ready']);
    expect(linesOf(after(first, withTwoRoots), foreign)).toEqual(['discovery.authority_ready']);
    expect(linesOf(after(first), foreign)).toEqual([
      'discovery.authority_ready',
      'discovery.root_replaced',
    ]);
    expect(linesOf(after(first), refused)).toEqual(['discovery.authority_refused']);
  });

  it('logs each certificate, and never a key', () => {
    const serialNumber = '0A1B';
    const issued = { type: 'certificate-issued', identity, address, serialNumber } as const;
    const [issuedLine] = narrateCa(initialCa, { ...issued, notAfter: 0 });
    expect(issuedLine).toMatchObject({
      event: 'discovery.certificate_issued',
      identity,
      address,
      serial: serialNumber,
      notAfter: '1970-01-01T00:00:00.000Z',
    });
    expect(JSON.stringify(narrateCa(initialCa, first))).not.toMatch(/PRIVATE|BEGIN/);
  });

  it('logs a refusal if a line is due', () => {
    const event = { type: 'certificate-refused', identity, address, reason: 'no' } as const;
    expect(narrateCa(initialCa, { ...event, kind: 'rate', logged: undefined })).toEqual([]);
    expect(narrateCa(initialCa, { ...event, kind: 'rate', logged: 70 })).toMatchObject([
      { event: 'discovery.certificate_refused', identity, address, reason: 'no', requests: 70 },
    ]);
  });

  it('logs its CRLs: the new ones, why one is refused, and that they are gone', () => {
    const crl = (changed: Partial<ServedCrl>): AuthorityEvent => ({
      type: 'crl-read',
      path: '/etc/cacerts',
      crl: { ...noCrl, ...changed },
    });
    const good = crl({ text: 'crl', revoked: 2, until: 0 });
    expect(narrateCa(initialCa, crl({}))).toEqual([]);
    expect(narrateCa(initialCa, good)).toMatchObject([
      { event: 'discovery.crl_ready', revoked: 2, nextUpdate: '1970-01-01T00:00:00.000Z' },
    ]);
    const kept = crl({ text: 'crl', flaw: 'why' });
    expect(narrateCa(after(good), kept)).toMatchObject([
      { event: 'discovery.crl_refused', reason: 'why' },
    ]);
    expect(linesOf(after(good, kept), kept)).toEqual([]);
    expect(caNote(after(first, good, kept))).toBe('the newest CRLs cannot be used: why');
    expect(linesOf(after(good, kept), good)).toEqual(['discovery.crl_ready']);
    expect(linesOf(after(good), crl({}))).toEqual(['discovery.crl_gone']);
    expect(metrics(after(good))).toMatchObject({
      citadel_server_crl_up: 1,
      citadel_server_crl_expiry_timestamp: 0,
    });
    expect(metrics(after(good, kept))).toMatchObject({ citadel_server_crl_up: 0 });
    expect(metrics(initialCa)).not.toHaveProperty('citadel_server_crl_expiry_timestamp');
  });

  it('logs what becomes of the ConfigMaps with its CRLs', () => {
    const news = (mapsNews: RootMapsNews) =>
      linesOf(initialCa, { type: 'crl-maps', news: mapsNews });
    expect(news({ type: 'roots-published', digest: '', namespaces: 2, written: 1 })).toEqual([
      'discovery.crl_published',
    ]);
    expect(news({ type: 'roots-unpublished', reason: 'no' })).toEqual([
      'discovery.crl_unpublished',
    ]);
    expect(news({ type: 'roots-contested', namespace: 'a' })).toEqual(['discovery.crl_contested']);
  });

  it('has the metrics of istiod', () => {
    const event = { type: 'certificate-refused', identity, address, reason: '' } as const;
    const logged = undefined;
    const view = after(
      first,
      { type: 'certificate-issued', identity, address, serialNumber: '', notAfter: 0 },
      { ...event, kind: 'request', logged },
      { ...event, kind: 'lifetime', logged },
      { ...event, kind: 'rate', logged },
      { ...event, kind: 'rate', logged },
    );
    expect(metrics(view)).toMatchObject({
      citadel_server_csr_count: 5,
      citadel_server_success_cert_issuance_count: 1,
      'citadel_server_csr_sign_err_count CSR_ERROR': 1,
      'citadel_server_csr_sign_err_count TTL_ERROR': 1,
      'citadel_server_csr_sign_err_count CA_NOT_READY': 0,
      citadel_server_rate_limited_count: 2,
      citadel_server_authority_up: 1,
    });
    const { authority } = view;
    const end = authority.type === 'signs' ? authority.authority.rootNotAfter : NaN;
    expect(metrics(view)['citadel_server_root_cert_expiry_timestamp']).toBe(
      Math.floor(end / 1_000),
    );
    expect(metrics(after(first, refused))['citadel_server_authority_up']).toBe(0);
    expect(metrics(initialCa)['citadel_server_authority_up']).toBe(0);
  });
});
