import type { CertificateReport } from './certificate-report.ts';

/**
 * What a certificate is called: its secret, unless that is named by a path; then the first name
 * that it is for, or its subject, or the last part of the path. Pure.
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
