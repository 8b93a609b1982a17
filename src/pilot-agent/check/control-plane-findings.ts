import { resolve } from 'node:path';
import { parseHostPort } from '../../shared/text/host-port.ts';
import { nameFlaw } from '../../shared/grpc/trouble.ts';
import { controlPlaneOf, controlPlaneSans } from '../bootstrap/control-plane-identity.ts';
import type { Around } from './around.ts';
import { type Finding, findingsOf } from './finding.ts';
import { checkServer } from './server.ts';

const check = 'control plane';

/** Checks that the control plane answers, if the agent or Envoy uses one. */
export async function checkControlPlane({
  config,
  plan,
  xds,
  isCertain,
}: Around): Promise<readonly Finding[]> {
  const { customConfigFile, discoveryAddress, controlPlaneAuthPolicy, controlPlaneTls } = config;
  if (xds === undefined && customConfigFile !== '')
    return [
      findingsOf(check).ok(
        `${customConfigFile} names no socket of the agent, so no control plane is asked`,
      ),
    ];
  if (!isCertain('discoveryAddress')) return [];
  const names = controlPlaneSans(controlPlaneOf(config), config.pilotIdentity).map(
    ({ type, value }) => `${type}:${value}`,
  );
  const ofEnvoy = {
    roots: resolve(plan.controlPlaneRoot),
    pair: { chain: resolve(controlPlaneTls.chain), key: resolve(controlPlaneTls.key) },
  };
  const tls = xds === undefined ? ofEnvoy : xds.target.tls;
  const isSecured = controlPlaneAuthPolicy === 'MUTUAL_TLS' && tls !== undefined;
  return checkServer({
    check,
    address: discoveryAddress,
    change: '--discoveryAddress',
    tls: isSecured
      ? {
          ...{ roots: tls.roots, pair: tls.pair },
          serverName: parseHostPort(discoveryAddress)?.host ?? '',
          nameFlaw: ({ subjectaltname }) => nameFlaw(subjectaltname, names)?.message,
        }
      : undefined,
    speak: isSecured
      ? 'give --discoveryAddress the port that speaks TLS (istiod: 15012), or --controlPlaneAuthPolicy NONE'
      : 'give --discoveryAddress the port in plaintext (istiod: 15010), or --controlPlaneAuthPolicy MUTUAL_TLS',
  });
}
