import { checkServerIdentity } from 'node:tls';
import { authorityAddress } from '../secrets/ca/authority.ts';
import { parseHostPort } from '../../shared/text/host-port.ts';
import { workloadFiles } from '../secrets/file-secrets.ts';
import type { Around } from './around.ts';
import { type Finding, findingsOf } from './finding.ts';
import { checkServer } from './server.ts';

const check = 'authority';

/** Checks that the certificate authority answers, if one is used. */
export async function checkAuthority({ config, plan }: Around): Promise<readonly Finding[]> {
  const { workload } = plan;
  if (workload.kind === 'files')
    return [findingsOf(check).ok('none is asked: the certificates are in files')];
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
