import { compose, type ContributingSource, renamed, source, withFallback } from 'pilot-agent';

/** A Secret in an answer of the Kubernetes API. */
interface Secret {
  readonly data: Readonly<Record<string, string>>;
}

/** The certificate of the gateway in one cluster, read every `every` ms. */
function certificateOf(api: string, every: number): ContributingSource {
  return source(
    'certificate',
    async () => {
      const answer = await fetch(`${api}/api/v1/namespaces/ingress/secrets/gateway`);
      if (!answer.ok) throw new Error(`${api} answers ${answer.status}`);
      return ((await answer.json()) as Secret).data;
    },
    { every, pauses: { first: every, longest: every }, keepLastOnError: false },
  );
}

/**
 * The certificates of two clusters, as `east` and `west`. `gateway` is that of the first cluster,
 * or of the second one while the first is away.
 */
export function twoClusters(first: string, second: string, every = 30_000): ContributingSource {
  const east = certificateOf(first, every);
  const west = certificateOf(second, every);
  return compose(
    renamed(east, 'east'),
    renamed(west, 'west'),
    renamed(withFallback(east, west), 'gateway'),
  );
}
