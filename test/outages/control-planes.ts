import { execFileSync } from 'node:child_process';
import type { Command } from '../../demo/mesh-agent.ts';
import { findExecutable } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { discoveryProgram } from '../edits/stage.ts';
import { ask } from '../support/ask.ts';
import { type Line, type Running, startRunning } from '../support/e2e/running.ts';
import { freePorts } from '../support/free-ports.ts';

/** The report of a control plane about its sources at one moment. */
export interface SourceReport {
  /** The text of `/ready`; empty if it reports nothing. */
  readonly ready: string;
  /** Whether all sources can be read, by its metrics. */
  readonly isUp: boolean;
  /** Whether it serves proxies. */
  readonly isReady: boolean;
}

/** A control plane of a stage. */
export interface Instance extends Running {
  readonly xds: number;
  said(): Promise<SourceReport>;
}

/** The difference between the clock of a program and that of the machine, as in `+10m`. */
export type Clock = `${'+' | '-'}${number}m`;

/**
 * Starts a control plane with these flags.
 *
 * @param clock the difference between its clock and that of the machine; none if left out
 */
export async function startInstance(
  { env }: Command,
  flags: readonly string[],
  clock?: Clock,
): Promise<Instance> {
  const [xds = 0, http = 0, monitoring = 0] = await freePorts(3);
  const listen = { grpcAddr: xds, httpAddr: http, monitoringAddr: monitoring };
  const args = [
    ...['discovery', ...flags, '--secureGRPCAddr', ''],
    ...Object.entries(listen).flatMap(([flag, port]) => [`--${flag}`, `127.0.0.1:${port}`]),
  ];
  const running = startRunning(discoveryProgram, { args, env: { ...env, ...timeOf(clock) } });
  return {
    ...running,
    xds,
    async said() {
      const [ready, metrics] = await Promise.all([
        ask(http, '/ready'),
        ask(monitoring, '/metrics'),
      ]);
      return {
        ready: ready.body,
        isReady: ready.status === 200,
        isUp: !/^pilot_source_up\{[^}]*\} 0$/m.test(metrics.body),
      };
    },
  };
}

/** Whether programs can run with another clock, by `faketime`. */
export const hasOtherTimes = findExecutable('faketime', process.env['PATH']) !== undefined;

/**
 * Returns variables with which a program sees another time. `faketime` itself does not pass
 * signals.
 */
export function timeOf(clock: Clock | undefined): Readonly<Record<string, string>> {
  if (clock === undefined) return {};
  const shown = execFileSync('faketime', ['-f', clock, 'env'], { encoding: 'utf8' });
  const wanted = shown.split('\n').filter((line) => /^(?:LD_PRELOAD|FAKETIME)=/.test(line));
  const variables = wanted.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]);
  return { ...Object.fromEntries(variables), FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

/** Returns the reasons of lost sources among lines. */
export const lossesIn = (lines: readonly Line[]): readonly string[] =>
  lines
    .filter(({ event }) => event === 'discovery.source_lost')
    .map(({ reason }) => String(reason));
