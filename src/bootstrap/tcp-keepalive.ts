import type { RemoteService } from '../config/proxy-config.ts';

/** What Linux takes; with more the socket is refused, and so is each connection. */
const most = { probes: 127, seconds: 32_767 };

/** Envoy's `tcp_keepalive`, in seconds. What is 0 is left to the system. Pure. */
export function tcpKeepalive({ probes, time, interval }: NonNullable<RemoteService['tcpKeepalive']>): Readonly<Record<string, number>> {
  const seconds = (ms: number) => Math.min(Math.ceil(ms / 1000), most.seconds);
  const all = {
    keepalive_probes: Math.min(probes, most.probes),
    keepalive_time: seconds(time),
    keepalive_interval: seconds(interval),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value > 0));
}
