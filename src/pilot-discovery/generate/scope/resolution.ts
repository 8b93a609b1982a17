import type { Service } from '../../environment/environment.ts';
import { memoTable } from './memo.ts';
import type { ProxyNode } from './proxy-node.ts';
import type { Services } from './visible-services.ts';

/** Returns whether DNS resolves the addresses of a service. */
export const isDns = ({ resolution }: Service): boolean =>
  resolution === 'dns' || resolution === 'dns-round-robin';

/**
 * Returns whether a proxy receives the endpoints of a service. For a gateway, a call has no
 * original destination.
 */
export const isEds = ({ resolution }: Service, { role }: Pick<ProxyNode, 'role'>): boolean =>
  resolution === 'static' || (resolution === 'none' && role === 'router');

/** Returns whether Envoy resolves the host that each call of a service names. */
export const isDynamicDns = ({ resolution }: Service): boolean => resolution === 'dynamic-dns';

/** Returns whether any service of a list is of a kind; it looks through a list once. */
function anyService(isOfKind: (service: Service) => boolean): (services: Services) => boolean {
  const verdicts = memoTable<boolean>();
  return (services) => verdicts([services], '', () => [...services.values()].some(isOfKind));
}

/** Returns whether DNS resolves the addresses of any service of a list. */
export const anyDns = anyService(isDns);

/** Returns whether Envoy resolves the host of each call, for any service of a list. */
export const anyDynamicDns = anyService(isDynamicDns);
