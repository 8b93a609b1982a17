import { largest } from '../files/outside-file.ts';
import { neededFile, tokenIn } from '../files/needed-file.ts';
import { apiToken, type FindAccess } from './access.ts';
import { kubeconfigAccess } from './kubeconfig.ts';

/**
 * The folder of a pod with its credentials for the API:
 * https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
 */
const mounted = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Whether a kubeconfig is named, or the program runs in a pod. Pure. */
export const isAccessNamed = (
  kubeconfig: string,
  env: Readonly<Record<string, string | undefined>>,
): boolean => kubeconfig !== '' || (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '';

/**
 * Returns how to find the access of a kubeconfig; if none is named, the access of the service
 * account of the pod.
 *
 * @param kubeconfig a path, or several with `:` between them; empty for none
 * @param folder the folder with the token and the root of the service account
 */
export function findAccess(
  kubeconfig: string,
  folder: string = mounted,
  env: NodeJS.ProcessEnv = process.env,
): FindAccess {
  if (kubeconfig !== '')
    return () => kubeconfigAccess(kubeconfig.split(':').filter((path) => path !== ''));
  const [host, port] = [
    env['KUBERNETES_SERVICE_HOST'] ?? '',
    env['KUBERNETES_SERVICE_PORT'] ?? '443',
  ];
  return async () => {
    if (host === '')
      throw new Error(
        'no Kubernetes API is known: name a kubeconfig (--kubeconfig, KUBECONFIG), or run in a pod',
      );
    const [token, ca] = await Promise.all([
      tokenIn(apiToken, `${folder}/token`),
      neededFile('the root of the Kubernetes API', `${folder}/ca.crt`, largest.pem),
    ]);
    return { server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`, token, ca };
  };
}
