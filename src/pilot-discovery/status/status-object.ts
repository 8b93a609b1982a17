import type { KubeObject } from '../../shared/kube/kube-object.ts';
import { isObject } from '../../shared/text/is-object.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import type { StatusObject } from './reduce-statuses.ts';

/** A status with more characters is replaced. */
const largest = 1 << 16;

/** Returns the parts of an object that its status depends on. Pure. */
export function statusObject({ apiVersion, kind, metadata, status }: KubeObject): StatusObject {
  const { name, namespace = '', resourceVersion: version } = metadata;
  const generation = ownMember(metadata, 'generation');
  const fields = isObject(status) ? status : {};
  const [observed, messages] = [
    ownMember(fields, 'observedGeneration'),
    ownMember(fields, 'validationMessages'),
  ];
  const text = JSON.stringify([String(observed), messages ?? []]);
  const place = ['namespaces', namespace, pluralOf(String(kind)), name].map(encodeURIComponent);
  return {
    version,
    path: `/apis/${String(apiVersion)}/${place.join('/')}/status`,
    generation: typeof generation === 'number' ? generation : 0,
    status: text.length > largest ? '' : text,
  };
}

/** Returns the object without the parts that its status does not depend on. Pure. */
export const statusParts = ({
  apiVersion,
  kind,
  metadata: { name, namespace, resourceVersion, ...metadata },
  status,
}: KubeObject): KubeObject => ({
  ...{ apiVersion, kind, status },
  metadata: {
    ...{ name, resourceVersion, generation: ownMember(metadata, 'generation') },
    ...(namespace !== undefined && { namespace }),
  },
});

/** Returns the name of a kind of Istio in a path. */
const pluralOf = (kind: string): string => `${kind.toLowerCase().replace(/(?<![aeiou])y$/, 'ie')}s`;
