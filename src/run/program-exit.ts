import { constants } from 'node:os';
import type { Outcome } from '../agent/model.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import { exitCodes } from './exit.ts';
import type { RunSign, View } from './view.ts';

/** An exit code, and one line that says why where that is not what was asked for. */
interface ProgramExit {
  readonly code: number;
  readonly why?: string;
}

/**
 * How the program ends after a run, by the last thing that happened in it, and what is known then.
 * Pure.
 */
export function runExit(
  last: RunSign,
  { agent }: Pick<View, 'agent'>,
  { statusPort, customConfigFile }: Pick<AgentConfig, 'statusPort' | 'customConfigFile'>,
): ProgramExit {
  if (last.type === 'failed') return { code: exitCodes.unavailable, why: `--statusPort ${statusPort}: ${last.reason}` };
  if (last.type === 'servers-failed') return { code: exitCodes[last.exit], why: last.reason };
  if (last.type === 'bug-over') return { code: exitCodes.software, why: `this is a bug: ${last.reason} (the log has the stack)` };
  const outcome: Outcome = 'outcome' in agent ? agent.outcome : { kind: 'asked' };
  const { code, why } = exitOf(outcome);
  return {
    code,
    ...(why !== undefined && {
      why: outcome.kind === 'refused' && customConfigFile !== '' ? `--customConfigFile ${customConfigFile}: ${why}` : why,
    }),
  };
}

/** How the program ends with the agent. Pure. */
export function exitOf(outcome: Outcome): ProgramExit {
  switch (outcome.kind) {
    case 'asked':
      return { code: exitCodes.ok };
    case 'refused':
      return { code: exitCodes.config, why: `Envoy refuses its configuration: ${outcome.reason}` };
    case 'address-taken':
      return { code: exitCodes.unavailable, why: `Envoy cannot bind ${outcome.address}: the address is in use` };
    case 'envoy': {
      const { exit } = outcome;
      if (exit.kind === 'clean') return { code: exitCodes.ok };
      if (exit.kind === 'failed') return { code: exit.code, why: `Envoy ended with ${exit.code}` };
      if (exit.kind === 'signaled') return { code: 128 + constants.signals[exit.signal], why: `Envoy was ended by ${exit.signal}` };
      if (exit.kind === 'unknown') return { code: exitCodes.unavailable, why: 'Envoy is gone, and how it ended is not known' };
      return { code: exitCodes.unavailable, why: `Envoy cannot be started: ${exit.reason}` };
    }
  }
}
