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

/** Returns whether Envoy resolves the names of calls of a service. */
export const isDynamicDns = ({ resolution }: Service): boolean => resolution === 'dynamic-dns';

const dynamic = memoTable<boolean>();

/** Returns whether Envoy resolves the names of calls of any of some services. */
export const anyDynamicDns = (services: Services): boolean =>
  dynamic([services], '', () => [...services.values()].some(isDynamicDns));
