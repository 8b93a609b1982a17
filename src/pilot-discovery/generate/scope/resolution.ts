import type { Service } from '../../environment/environment.ts';
import type { ProxyNode } from './proxy-node.ts';

/** Whether DNS tells the addresses of a service. */
export const isDns = ({ resolution }: Service): boolean =>
  resolution === 'dns' || resolution === 'dns-round-robin';

/**
 * Whether a proxy is told the endpoints of a service: a gateway has no address that a call was
 * going to.
 */
export const isEds = ({ resolution }: Service, { role }: Pick<ProxyNode, 'role'>): boolean =>
  resolution === 'static' || (resolution === 'none' && role === 'router');
