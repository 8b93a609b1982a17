/** The place of a secret that a proxy names, and the part of it that the proxy wants. */
export interface CredentialName {
  readonly namespace: string;
  /** The name of a Secret. For roots it may end with `-cacert`. */
  readonly name: string;
}

/** A DNS subdomain (RFC 1123), as Kubernetes names Secrets. */
const secretForm = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;
const form = /^(kubernetes|kubernetes-gateway):\/\/(?:([^/]*)\/)?([^/]*)$/;

/** The longest name in a reason, in characters. */
const longest = 200;

/**
 * Returns the Secret that a proxy of this namespace names, by the names of istiod:
 * `kubernetes://NAME`, `kubernetes://NAMESPACE/NAME`, `kubernetes-gateway://NAMESPACE/NAME`.
 * Returns a text if the proxy gets none: the reason. Pure.
 *
 * @param proxyNamespace the namespace of the proxy, as it has proved it
 */
export function credentialNameOf(
  resource: string,
  proxyNamespace: string,
): CredentialName | string {
  const shown = resource.slice(0, longest);
  const [, kind, namespace = kind === 'kubernetes' ? proxyNamespace : '', name = ''] =
    form.exec(resource) ?? [];
  if (kind === undefined || !secretForm.test(name))
    return `'${shown}' names no Secret: kubernetes://NAME does`;
  if (namespace !== proxyNamespace)
    return `'${shown}' is in another namespace than the proxy, which is in ${proxyNamespace}`;
  return { namespace, name };
}
