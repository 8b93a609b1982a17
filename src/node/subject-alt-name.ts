/** A name that a certificate has to carry. */
export interface SubjectAltName {
  readonly type: 'DNS' | 'URI';
  readonly value: string;
}
