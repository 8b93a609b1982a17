/** What a machine's firmware and hypervisor say of it, below `/sys`; empty where they do not, or where only root is told. */
export interface MachineSigns {
  readonly productName: string;
  readonly vendor: string;
  readonly productVersion: string;
  readonly productUuid: string;
  readonly hypervisorUuid: string;
}

/**
 * The cloud that a machine is of, if it is known to be of one.
 *
 * Amazon's is known by the rule of the Go agent 1.6, or by its vendor, which alone a plain user may read on today's machines. Pure.
 */
export function cloudOf({
  productName,
  vendor,
  productVersion,
  productUuid,
  hypervisorUuid,
}: MachineSigns): 'google' | 'amazon' | undefined {
  if ([productName, vendor].some((sign) => sign.startsWith('Google'))) return 'google';
  if ([productUuid, hypervisorUuid].some((uuid) => /^ec2/i.test(uuid)) || /amazon/i.test(`${productVersion} ${vendor}`)) return 'amazon';
  return undefined;
}
