import type { Service } from '../../environment/environment.ts';
import type { ProxyNode } from './proxy-node.ts';

/** Returns whether DNS resolves the addresses of a service. */
export const isDns = ({ resolution }: Service): boolean =>
  resolution === 'dns' || resolution === 'dns-round-robin';

/**
 * Returns whether a proxy receives the endpoints of a service. For a gateway, a call has no
 * original destination.
 */
export const isEds = ({ resolution }: Service, { role }: Pick<ProxyNode, 'role'>): boolean =>
  resolution === 'static' || (resolution === 'none' && role === 'router');
