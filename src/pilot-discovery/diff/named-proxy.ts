import { readNode } from '../generate/scope/read-node.ts';
import type { ComparedProxy } from './described-proxies.ts';

/**
 * Parses a value of `--proxy`: the node ID of the proxy, such as
 * `sidecar~10.0.0.1~app.shop~shop.svc.cluster.local`, then `,NAME=VALUE` for each label. Returns
 * the proxy, or a message that says what is wrong. Pure.
 */
export function namedProxy(text: string): ComparedProxy | string {
  const [id = '', ...pairs] = text.split(',');
  const labels = new Map<string, string>();
  for (const pair of pairs) {
    const [, name, value = ''] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
    if (name === undefined) return `'${pair}' is not NAME=VALUE`;
    labels.set(name, value);
  }
  const node = readNode({ id, metadata: { LABELS: Object.fromEntries(labels) } }, '');
  return typeof node === 'string' ? node : { node, presence: 'named' };
}
