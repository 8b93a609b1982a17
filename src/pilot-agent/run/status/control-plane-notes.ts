import { span } from '../../../shared/log/span.ts';
import type { XdsSummary } from '../../xds-proxy/relay-telemetry.ts';
import type { AwaitedAuthority } from '../state/awaited-authority.ts';
import { uncertified } from '../state/secret-troubles.ts';

/** The things that Envoy waits for before it is ready. */
export interface Waits {
  /** The authority whose first certificate is awaited. */
  readonly authority: AwaitedAuthority | undefined;
  /**
   * Undefined if Envoy itself connects to the control plane at `address`, which is empty if it is
   * unknown.
   */
  readonly xds: XdsSummary | undefined;
  readonly address: string;
}

/**
 * Explains why Envoy is not ready: what it waits for, and what is wrong there. Without a
 * certificate there may be no connection to a control plane, so the authority is named first. Pure.
 */
export function withWaits(reason: string, { authority, xds, address }: Waits): string {
  const isUnconfigured = reason.startsWith('config not received');
  if (authority !== undefined && (isUnconfigured || reason.startsWith('server is not live'))) {
    const also = xds?.trouble === undefined ? '' : `; ${wrong(xds.address, xds.trouble)}`;
    return `${uncertified(authority)}${also}`;
  }
  if (!isUnconfigured) return reason;
  if (xds === undefined)
    return address === ''
      ? reason
      : `${reason}; control plane ${address}: Envoy itself connects to it`;
  return xds.trouble === undefined ? reason : `${reason}; ${wrong(xds.address, xds.trouble)}`;
}

/** Returns the notes about the control plane while Envoy is ready. Pure. `now`: ms since 1970. */
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

/** Returns the resources that a new Envoy would wait for; empty if the agent has them. Pure. */
export function missingResources(xds: XdsSummary | undefined): string {
  return xds === undefined || xds.canServeEnvoy ? '' : `clusters and listeners of ${xds.address}`;
}
