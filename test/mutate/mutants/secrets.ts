import type { Mutant } from '../mutant.ts';

export const secrets: readonly Mutant[] = [
  { id: 'secrets/most-certificates', file: 'secrets/certificates.ts', find: 'length > limit ?', replace: 'length > limit * 10 ?' },
  {
    id: 'secrets/no-time',
    file: 'secrets/certificates.ts',
    find: 'if (Number.isNaN(notBefore + notAfter)) return',
    replace: 'if (false) return',
  },
  { id: 'secrets/of-the-kernel', file: 'secrets/secret-book.ts', find: 'resolve(path)', replace: 'path' },
  { id: 'secrets/link-known-name', file: 'secrets/write-set.ts', find: "join(own, '..link')", replace: '`${path}.new`' },
  { id: 'secrets/expired-edge', file: 'secrets/certificates.ts', find: 'now >= notAfter', replace: 'now > notAfter' },
  {
    id: 'secrets/served-on',
    file: 'secrets/keep-served.ts',
    find: '{ ...state, source: state.served === undefined ? source : state.source, refused',
    replace: '{ ...state, served: undefined, source: state.served === undefined ? source : state.source, refused',
  },
  { id: 'secrets/read-twice', file: 'secrets/file-secrets.ts', find: 'hash === before ?', replace: 'hash !== before ?' },
  {
    id: 'secrets/first-preferred',
    file: 'secrets/keep-served.ts',
    find: "isFirst || first.type === 'set'",
    replace: "first.type === 'set'",
  },
  { id: 'secrets/gateway-names', file: 'secrets/gateway-secrets.ts', find: '|| notForGateways.test(name)', replace: '' },
  { id: 'secrets/version-has-key', file: 'secrets/secret.ts', find: '.update(key)', replace: '' },
  { id: 'secrets/expiry-earliest', file: 'secrets/telemetry.ts', find: 'Math.min(...ends)', replace: 'Math.max(...ends)' },
  { id: 'secrets/roots-beside-pair', file: 'secrets/keep-served.ts', find: 'reading.refused?.[kind]', replace: 'undefined' },
  { id: 'secrets/refused-part', file: 'secrets/checked-set.ts', find: '...(pair === undefined && set.pair', replace: '...(set.pair' },
  { id: 'secrets/output-mode', file: 'secrets/write-set.ts', find: 'mode: 0o600', replace: 'mode: 0o644' },
  { id: 'secrets/output-old', file: 'secrets/write-set.ts', find: 'isOld || leadsNowhere', replace: 'leadsNowhere' },
  { id: 'secrets/output-less', file: 'secrets/write-set.ts', find: 'isOld || leadsNowhere', replace: 'isOld' },
  { id: 'secrets/expiry-day', file: 'secrets/certificate-expiry.ts', find: 'life >= 2 * day', replace: 'life >= day' },
  { id: 'secrets/expiry-told-once', file: 'secrets/certificate-expiry.ts', find: 'before.has(key) ? [] : [sign]', replace: '[sign]' },
  {
    id: 'secrets/expiry-renewed',
    file: 'secrets/certificate-expiry.ts',
    find: 'certificate.isRenewed || left > lead',
    replace: 'left > lead',
  },
  { id: 'secrets/expiry-of-roots', file: 'secrets/certificates.ts', find: 'sorted[0] : sorted.at(-1)', replace: 'sorted[0] : sorted[0]' },
];
