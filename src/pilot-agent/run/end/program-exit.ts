import { constants } from 'node:os';
import { exitWords } from '../../../epochs/exit-cause.ts';
import type { Outcome } from '../../../epochs/model.ts';
import type { AgentConfig } from '../../config/agent-config.ts';
import { exitCodes } from '../../../shared/program/exit.ts';
import type { TakenPort } from '../../../shared/program/taken-port.ts';
import type { RunSign, RunView } from '../state/view.ts';

/** An exit code, and one line with the reason if the end was not requested. */
export interface ProgramExit {
  readonly code: number;
  readonly why?: string;
  /** The port that is in use, if that is the reason. */
  readonly takenPort?: TakenPort;
}

type Ports = Pick<
  AgentConfig,
  'statusPort' | 'proxyAdminPort' | 'healthPort' | 'prometheusPort' | 'customConfigFile'
>;

/** Returns how the program ends after a run, from the last sign and the view at that time. Pure. */
export function runExit(
  last: RunSign,
  { agent }: Pick<RunView, 'agent'>,
  config: Ports,
): ProgramExit {
  if (last.type === 'failed')
    return {
      code: exitCodes.unavailable,
      ...unheard(`--statusPort ${config.statusPort}: ${last.reason}`),
    };
  if (last.type === 'servers-failed')
    return { code: exitCodes[last.exit], ...unheard(last.reason) };
  if (last.type === 'bug-over')
    return {
      code: exitCodes.software,
      why: `this is a bug: ${last.reason} (the log has the stack)`,
    };
  const outcome: Outcome = 'outcome' in agent ? agent.outcome : { kind: 'asked' };
  if (outcome.kind === 'address-denied')
    return withChoice(exitOf(outcome), outcome.address, config);
  const address =
    outcome.kind === 'address-taken' ? /^\[?(.*?)\]?:(\d+)$/.exec(outcome.address) : null;
  if (address === null) return exitOf(outcome);
  const [, host = '', port = ''] = address;
  return {
    ...exitOf(outcome),
    takenPort: { host, port: Number(port), choose: choiceOf(Number(port), config) },
  };
}

/** Adds advice that fits both a systemd unit and the security context of a container. */
function withChoice(exit: ProgramExit, address: string, config: Ports): ProgramExit {
  const port = /:(\d+)$/.exec(address)?.[1];
  if (port === undefined)
    return { ...exit, why: `${exit.why ?? ''}: let it write into that folder, or change the path` };
  const choose = choiceOf(Number(port), config);
  return {
    ...exit,
    why: `${exit.why ?? ''}: give it CAP_NET_BIND_SERVICE, lower net.ipv4.ip_unprivileged_port_start, or change ${choose}`,
  };
}

/**
 * Explains why a server of the agent cannot listen, from Node's error after the flag and its port.
 */
function unheard(why: string): Pick<ProgramExit, 'takenPort'> & { readonly why: string } {
  const [, flag = '', ownPort = '', code, host = '', port] =
    /^(--\w+) (\d+): listen (EADDRINUSE|EACCES): .*? (\S*):(\d+)$/.exec(why) ?? [];
  if (code === 'EACCES')
    return {
      why: `${flag} ${ownPort}: this user may not listen on it: give ${flag} a port from 1024 on`,
    };
  return code === undefined
    ? { why }
    : {
        why: `${flag} ${ownPort}: the port is in use`,
        takenPort: { host, port: Number(port), choose: flag },
      };
}

/** Returns the name of the setting that makes Envoy listen on a port. */
function choiceOf(
  port: number,
  { proxyAdminPort, healthPort, prometheusPort, customConfigFile }: Ports,
): string {
  if (customConfigFile !== '') return `the port in ${customConfigFile}`;
  const names = {
    '--proxyAdminPort': proxyAdminPort,
    ENVOY_STATUS_PORT: healthPort,
    ENVOY_PROMETHEUS_PORT: prometheusPort,
  };
  return (
    Object.entries(names).find(([, configured]) => configured === port)?.[0] ??
    'the listener that has it'
  );
}

/** Returns how the program ends with the agent. Pure. */
export function exitOf(outcome: Outcome): ProgramExit {
  switch (outcome.kind) {
    case 'asked':
      return { code: exitCodes.ok };
    case 'refused':
      return { code: exitCodes.config, why: `Envoy refuses its configuration: ${outcome.reason}` };
    case 'address-taken':
      return {
        code: exitCodes.unavailable,
        why: `Envoy cannot bind ${outcome.address}: the address is in use`,
      };
    case 'address-denied': {
      const user = process.geteuid?.();
      return {
        code: exitCodes.unavailable,
        why: `Envoy cannot bind ${outcome.address}: user ${String(user)} may not listen there`,
      };
    }
    case 'envoy': {
      const { exit } = outcome;
      if (exit.kind === 'clean') return { code: exitCodes.ok };
      const words = exitWords(exit);
      const detail = words === undefined ? '' : `: ${words}`;
      if (exit.kind === 'failed')
        return { code: exit.code, why: `Envoy ended with ${exit.code}${detail}` };
      if (exit.kind === 'signaled')
        return {
          code: 128 + constants.signals[exit.signal],
          why: `Envoy was ended by ${exit.signal}${detail}`,
        };
      if (exit.kind === 'unknown')
        return { code: exitCodes.unavailable, why: 'Envoy is gone, and how it ended is not known' };
      return { code: exitCodes.unavailable, why: `Envoy cannot be started: ${exit.reason}` };
    }
  }
}
