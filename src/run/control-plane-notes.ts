import { span, type XdsSummary } from '../xds/telemetry.ts';

/**
 * Why Envoy is not ready, with what is wrong with the control plane where Envoy waits for that.
 * Pure.
 *
 * @param xds undefined where Envoy asks the control plane at `address` itself; empty: nobody knows
 */
export function withControlPlane(reason: string, xds: XdsSummary | undefined, address: string): string {
  if (!reason.startsWith('config not received')) return reason;
  if (xds === undefined) return address === '' ? reason : `${reason}; control plane ${address}: Envoy itself connects to it`;
  return xds.trouble === undefined ? reason : `${reason}; ${wrong(xds.address, xds.trouble)}`;
}

/** What there is to note of the control plane while Envoy is ready. Pure. `now`: ms since 1970. */
export function controlPlaneNotes(xds: XdsSummary | undefined, now: number): readonly string[] {
  if (xds === undefined) return [];
  const { address, trouble, storedOf } = xds;
  return [
    ...(trouble === undefined ? [] : [wrong(address, trouble)]),
    ...(storedOf === undefined ? [] : [`serving the configuration of ${span(now - storedOf)} ago`]),
  ];
}

function wrong(address: string, { reason, since }: NonNullable<XdsSummary['trouble']>): string {
  return `control plane ${address}: ${reason}, since ${new Date(since).toISOString()}`;
}

/** What a new Envoy would wait for; empty where the agent has it. Pure. */
export function missingResources(xds: XdsSummary | undefined): string {
  return xds === undefined || xds.isHeld ? '' : `clusters and listeners of ${xds.address}`;
}
