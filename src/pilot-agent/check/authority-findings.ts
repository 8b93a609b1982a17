import { checkServerIdentity } from 'node:tls';
import { asyncScheduler, firstValueFrom, map, merge, timer } from 'rxjs';
import { authorityAddress } from '../secrets/ca/authority.ts';
import { parseHostPort } from '../../shared/text/host-port.ts';
import { workloadFiles } from '../secrets/file-secrets.ts';
import { readSvid } from '../secrets/workload-socket/read-answer.ts';
import { sdsClient } from '../secrets/workload-socket/sds-client.ts';
import { workloadSecretNames } from '../../shared/xds/secret-names.ts';
import type { Around } from './around.ts';
import { type Finding, findingsOf } from './finding.ts';
import { checkServer } from './server.ts';

const check = 'authority';

/** Checks that the certificate authority answers, if one is used. */
export async function checkAuthority({ config, plan }: Around): Promise<readonly Finding[]> {
  const { workload } = plan;
  if (workload.kind === 'files')
    return [findingsOf(check).ok('none is asked: the certificates are in files')];
  if (workload.kind === 'socket') return [await checkSocket(workload.path)];
  const target = authorityAddress(
    workload.address,
    config.pilotCertProvider ?? 'istiod',
    config.provCert,
  );
  // A mistake of the configuration, which another check reports.
  if (target === undefined) return [];
  const { address, roots } = target;
  const serverName = target.serverName ?? parseHostPort(address)?.host ?? '';
  const findings = await checkServer({
    check,
    address,
    change: 'CA_ADDR',
    tls:
      roots === undefined
        ? undefined
        : {
            roots: roots === 'system' ? undefined : roots,
            pair: config.provCert === '' ? undefined : workloadFiles(config.provCert, []),
            serverName,
            nameFlaw: (certificate) =>
              checkServerIdentity(serverName, certificate) === undefined
                ? undefined
                : `its certificate is for ${certificate.subjectaltname ?? 'no name'}, and not for ${serverName}`,
          },
    speak: 'give CA_ADDR the port that speaks TLS (istiod: 15012), or 15010 for plaintext',
  });
  const isAlsoControlPlane = address === config.discoveryAddress;
  return findings.filter((finding) => !isAlsoControlPlane || finding.check === check);
}

/** In ms. The program behind the socket may first have to request a certificate. */
const longestAnswer = 5_000;

/** Checks that the program behind the workload socket gives an identity. */
async function checkSocket(path: string): Promise<Finding> {
  const { ok, fail } = findingsOf(check);
  const { certificate } = workloadSecretNames;
  const server = sdsClient(path, 'pilot-agent check');
  const sign$ = server.follow(certificate, (answer) =>
    readSvid(answer, certificate, { trustDomain: undefined, now: asyncScheduler.now() }),
  );
  const unanswered = { type: 'lost', reason: 'it does not answer' } as const;
  const silent$ = timer(longestAnswer).pipe(map(() => unanswered));
  const sign = await firstValueFrom(merge(sign$, silent$), { defaultValue: unanswered });
  if (sign.type === 'answered' && sign.answer.ok)
    return ok(`none is asked: ${server.name} gives ${sign.answer.content.id}`);
  const reason = sign.type === 'lost' ? sign.reason : sign.answer.ok ? '' : sign.answer.reason;
  return fail(
    'certificate missing',
    `${server.name}: ${reason}`,
    'start the program behind the socket, and register the workload there; without one, remove the socket',
  );
}
