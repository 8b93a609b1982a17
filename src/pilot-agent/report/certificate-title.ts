import type { CertificateReport } from './certificate-report.ts';

/**
 * Returns the title of a certificate: the name of its secret, unless that is a path; then the first
 * name that the certificate is for, its subject, or the last part of the path. Pure.
 */
export function certificateTitle({
  name,
  subject,
  subjectAltNames,
}: Pick<CertificateReport, 'name' | 'subject' | 'subjectAltNames'>): string {
  if (!name.includes('/')) return name;
  const [first] = subjectAltNames;
  if (first !== undefined) return first.replace(/^(?:DNS|URI|IP Address|email):/, '');
  const common = /(?:^|, ?)CN ?= ?([^,]+)/.exec(subject)?.[1];
  return common ?? (subject === '' ? name.replace(/^.*\//, '') : subject);
}
