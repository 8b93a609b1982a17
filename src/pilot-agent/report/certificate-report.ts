/** A certificate that Envoy serves or trusts. Times are ISO 8601 with ms, in UTC. */
export interface CertificateReport {
  /** The name of its secret. */
  readonly name: string;
  /** `file /etc/certs/cert-chain.pem`, or the certificate authority. */
  readonly source: string;
  /** `file`: Envoy started with it; `push`: Envoy got it over SDS. */
  readonly by: 'file' | 'push';
  readonly subject: string;
  readonly subjectAltNames: readonly string[];
  /** Upper-case hex. */
  readonly serialNumber: string;
  readonly notBefore: string;
  readonly notAfter: string;
  /** Why the newest content of this secret is not served. */
  readonly refused?: string;
}

/** A secret that was pushed to Envoy. */
export interface SecretPush {
  readonly at: string;
  readonly secret: string;
  readonly version: string;
  /** Envoy's answer; `pushed`: none yet. */
  readonly state: 'pushed' | 'accepted' | 'rejected';
  readonly reason?: string;
}
