import { constants } from 'node:os';
import type { Outcome } from '../agent/model.ts';
import { exitCodes } from './exit-codes.ts';

/** How the program ends: its exit code, and one line that says why where that is not what was asked for. */
export function exitOf(outcome: Outcome): { readonly code: number; readonly why?: string } {
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
