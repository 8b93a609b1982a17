import { readText } from '../../proxy/control-group.ts';
import { envoysOf } from '../../proxy/proc.ts';
import { holderName, type PortHolder, portHolders } from '../../shared/program/port-holder.ts';
import { isIpAddress } from '../../shared/text/host-port.ts';
import type { Around } from './around.ts';
import { type Finding, findingsOf } from './finding.ts';
import { type Listening, listening } from './listening.ts';

const { ok, fail } = findingsOf('ports');

/**
 * Checks that the ports of agent and Envoy are free, or that only the right processes hold them.
 */
export function checkPorts(around: Around): readonly Finding[] {
  const ports = listening(around);
  const findings = [
    ...ports.flatMap((entry, index) => twice(entry, ports.slice(0, index))),
    ...ports.flatMap(privileged),
    ...takenPorts(ports, around),
  ];
  if (findings.length > 0) return findings;
  const numbers = [...new Set(ports.map(({ port }) => port))].join(', ');
  return [
    ok(
      around.agent === undefined
        ? `${numbers}: free`
        : `${numbers}: free, or held by this agent and its Envoy`,
    ),
  ];
}

function twice(
  { host, port, purpose, change }: Listening,
  before: readonly Listening[],
): readonly Finding[] {
  const earlier = before.find(
    (entry) => entry.port === port && (entry.host === host || isWild(entry.host) || isWild(host)),
  );
  if (earlier === undefined) return [];
  return [
    fail(
      'port twice',
      `${port} is for both ${purpose} and ${earlier.purpose}`,
      `change one of ${change} and ${earlier.change}`,
    ),
  ];
}

function isWild(host: string): boolean {
  return !isIpAddress(host) || host === '0.0.0.0' || host === '::';
}

/** The number of CAP_NET_BIND_SERVICE (capabilities(7)). */
const bindService = 10n;

function privileged({ port, purpose, change }: Listening): readonly Finding[] {
  const first = Number(readText('/proc/sys/net/ipv4/ip_unprivileged_port_start') || 1024);
  const capabilities = BigInt(
    `0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(readText('/proc/self/status'))?.[1] ?? '0'}`,
  );
  if (port >= first || (capabilities >> bindService) % 2n === 1n) return [];
  const what = `${port} for ${purpose} is below ${first}, and this user may not listen there`;
  return [
    fail('port privileged', what, `change ${change}, or give the container NET_BIND_SERVICE`),
  ];
}

function takenPorts(
  ports: readonly Listening[],
  { agent, config: { configPath } }: Around,
): readonly Finding[] {
  const ownProcesses = agent === undefined ? [] : [agent.pid, ...envoysOf(configPath)];
  // If the agent runs in another container, only its existence is visible here, not its processes.
  const isOwn = ({ process }: PortHolder) =>
    process === undefined ? agent !== undefined : ownProcesses.includes(process.pid);
  return ports.flatMap(({ host, port, purpose, change }) => {
    const others = portHolders(port, host).filter((holder) => !isOwn(holder));
    if (others.length === 0) return [];
    const who = others.map((holder) => holderName(holder)).join(' and ');
    return [
      fail(
        'port taken',
        `${port} for ${purpose} is taken by ${who}`,
        `end that process, or change ${change}`,
      ),
    ];
  });
}
