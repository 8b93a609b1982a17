/** A control plane from which resources of Istio are read: `xds://HOST:PORT` of a MeshConfig. */
export interface ConfigServer {
  /** `HOST:PORT`. */
  readonly address: string;
  /** The namespaces whose resources are read; empty for all. */
  readonly namespaces: readonly string[];
  /** The file of the token that is sent; '' for none. */
  readonly tokenFile: string;
  /** Undefined for plain text. */
  readonly tls: ConfigServerTls | undefined;
}

export interface ConfigServerTls {
  /** The file of the roots that verify the server, or their PEM; '' for those of the machine. */
  readonly roots: string;
  /** The files of the client's certificate and key; undefined for none. */
  readonly pair: { readonly chain: string; readonly key: string } | undefined;
  /** The name that the server is asked for; '' for its host. */
  readonly sni: string;
  /** The certificate of the server must be for one of them; empty for its host. */
  readonly names: readonly string[];
}
