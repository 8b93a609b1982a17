/** The node as Envoy's `--service-node` names it: `<role>~<first address>~<id>~<DNS domain>`. Pure. */
export function nodeString(
  role: 'sidecar' | 'router',
  { ip, id, domain }: { readonly ip: string; readonly id: string; readonly domain: string },
): string {
  return [role, ip, id, domain].join('~');
}
