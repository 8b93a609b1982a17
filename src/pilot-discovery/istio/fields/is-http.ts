import type { Protocol } from './values.ts';

/** Whether a port speaks HTTP in plain text, of any version. */
export const isHttp = (protocol: Protocol): boolean => protocol === 'http' || isHttp2(protocol);

/** Whether a port speaks HTTP/2 in plain text. */
export const isHttp2 = (protocol: Protocol): boolean =>
  protocol === 'http2' || protocol === 'grpc' || protocol === 'grpc-web';

/** Whether a port speaks TLS, with any protocol in it. */
export const isTls = (protocol: Protocol): boolean => protocol === 'tls' || protocol === 'https';
