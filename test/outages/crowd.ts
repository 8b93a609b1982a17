import type { KubeServer, Resource } from '../support/e2e/kube-server.ts';

/** Pods of no service, which can change all the time. */
export interface Crowd {
  /** Changes labels of this many Pods a second, until it is stopped. */
  change(perSecond: number): { stop(): Promise<void> };
  /** Returns the number of changes so far. */
  changed(): number;
}

const [namespace, atOnce] = ['crowd', 16];
const podsPath = `/api/v1/namespaces/${namespace}/pods`;

const podOf = (index: number): Resource => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name: `pod-${index}`, labels: { app: `app-${index % 1_000}` } },
  spec: { containers: [{ name: 'app', image: 'app', ports: [{ containerPort: 80 }] }] },
});

/** Creates Pods. Resolves when the API has all of them. */
export async function makeCrowd(kube: KubeServer, count: number): Promise<Crowd> {
  await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  let next = 0;
  const make = async (): Promise<void> => {
    while (next < count) await kube.ask('POST', podsPath, podOf(next++));
  };
  await Promise.all(Array.from({ length: atOnce }, make));
  let [changed, random] = [0, 0];
  const changeOne = async (): Promise<void> => {
    random = (random + 7_919) % count;
    const body = { metadata: { labels: { changed: String(changed) } } };
    await kube.ask('PATCH', `${podsPath}/pod-${random}`, body, 'application/merge-patch+json');
    changed += 1;
  };
  return {
    changed: () => changed,
    change(perSecond) {
      const pending = new Set<Promise<void>>();
      const failures: unknown[] = [];
      const timer = setInterval(() => {
        if (pending.size >= 4 * atOnce) return; // the API cannot keep up
        const pendingChange = changeOne()
          .catch((error: unknown) => failures.push(error))
          .then(() => void pending.delete(pendingChange));
        pending.add(pendingChange);
      }, 1_000 / perSecond);
      return {
        async stop() {
          clearInterval(timer);
          await Promise.all(pending);
          if (failures.length > 0)
            throw new Error('a Pod cannot be changed', { cause: failures[0] });
        },
      };
    },
  };
}
