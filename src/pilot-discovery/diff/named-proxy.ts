import { readNode } from '../generate/scope/read-node.ts';
import type { ComparedProxy } from './described-proxies.ts';

/**
 * Returns the proxy that `--proxy` names by the id of its node, such as
 * `sidecar~10.0.0.1~app.shop~shop.svc.cluster.local`, with `,NAME=VALUE` for each label; or, as a
 * text, what is wrong. Pure.
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
