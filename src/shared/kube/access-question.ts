import type { HttpQuestion } from '../http/http-answer.ts';
import type { KubeAccess } from './access.ts';

/** A program, as the audit log of the API knows it. */
export type KubeProgram = 'pilot-agent' | 'pilot-discovery';

/** Returns the options of a request to an API server, with the credentials for it. Pure. */
export const accessQuestion = (
  { token, ca, cert, key, servername }: KubeAccess,
  program: KubeProgram,
): HttpQuestion & Pick<Required<HttpQuestion>, 'headers'> => ({
  headers: {
    accept: 'application/json',
    'user-agent': program,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  },
  ...(ca !== undefined && { ca }),
  ...(cert !== undefined && { cert }),
  ...(key !== undefined && { key }),
  ...(servername !== undefined && { servername }),
});
