/** The type of what is discovered here, as it stands in every request and answer. */
export const secretTypeUrl = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
