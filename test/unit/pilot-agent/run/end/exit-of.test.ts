import { describe, expect, it } from 'vitest';
import { type AgentState, initialState, type Outcome } from '../../../../../src/epochs/model.ts';
import { exitOf, runExit } from '../../../../../src/pilot-agent/run/end/program-exit.ts';
import type { TakenPort } from '../../../../../src/shared/program/taken-port.ts';
import type { RunSign } from '../../../../../src/pilot-agent/run/state/view.ts';

describe('exitOf', () => {
  it.each<{ what: string; outcome: Outcome; code: number; why?: string }>([
    { what: 'asked to stop', outcome: { kind: 'asked' }, code: 0 },
    {
      what: 'the last Envoy ended cleanly',
      outcome: { kind: 'envoy', exit: { kind: 'clean' } },
      code: 0,
    },
    {
      what: 'exit 3, which the Go agent made 0 of',
      outcome: { kind: 'envoy', exit: { kind: 'failed', code: 3, tail: ['x'] } },
      code: 3,
      why: 'Envoy ended with 3: x',
    },
    {
      what: 'SIGKILL, which the Go agent made 0 of',
      outcome: { kind: 'envoy', exit: { kind: 'signaled', signal: 'SIGKILL', tail: [] } },
      code: 137,
      why: 'Envoy was ended by SIGKILL',
    },
    {
      what: 'SIGSEGV, which the Go agent made 0 of',
      outcome: { kind: 'envoy', exit: { kind: 'signaled', signal: 'SIGSEGV', tail: [] } },
      code: 139,
      why: 'Envoy was ended by SIGSEGV',
    },
    {
      what: 'SIGABRT, with the line that tells the cause',
      outcome: {
        kind: 'envoy',
        exit: { kind: 'signaled', signal: 'SIGABRT', tail: ['a', 'assert failure: x', '#0: b'] },
      },
      code: 134,
      why: 'Envoy was ended by SIGABRT: assert failure: x',
    },
    {
      what: 'an Envoy that can not be started, which the Go agent made 0 of',
      outcome: { kind: 'envoy', exit: { kind: 'spawn-failed', reason: 'ENOENT' } },
      code: 69,
      why: 'Envoy cannot be started: ENOENT',
    },
    {
      what: 'an Envoy that is gone, nobody knows how',
      outcome: { kind: 'envoy', exit: { kind: 'unknown', tail: [] } },
      code: 69,
      why: 'Envoy is gone, and how it ended is not known',
    },
    {
      what: 'a configuration that Envoy refuses',
      outcome: { kind: 'refused', reason: 'no such file' },
      code: 78,
      why: 'Envoy refuses its configuration: no such file',
    },
    {
      what: 'a port that the user may not bind',
      outcome: { kind: 'address-denied', address: '0.0.0.0:443' },
      code: 69,
      why: `Envoy cannot bind 0.0.0.0:443: user ${String(process.geteuid?.())} may not listen there`,
    },
    {
      what: 'a port that is taken',
      outcome: { kind: 'address-taken', address: '0.0.0.0:80' },
      code: 69,
      why: 'Envoy cannot bind 0.0.0.0:80: the address is in use',
    },
  ])('$what → $code', ({ outcome, code, why }) => {
    expect(exitOf(outcome)).toStrictEqual({ code, ...(why !== undefined && { why }) });
  });
});

const ports = {
  statusPort: 15_020,
  proxyAdminPort: 15_000,
  healthPort: 15_021,
  prometheusPort: 15_090,
  customConfigFile: '',
};

describe('runExit', () => {
  it.each<[what: string, last: RunSign, why: string, taken?: TakenPort]>([
    [
      'a status port that is in use',
      { type: 'failed', reason: 'listen EADDRINUSE: address already in use :::15020' },
      '--statusPort 15020: the port is in use',
      { host: '::', port: 15_020, choose: '--statusPort' },
    ],
    [
      'a token server whose port is in use',
      {
        type: 'servers-failed',
        exit: 'unavailable',
        reason: '--stsPort 15463: listen EADDRINUSE: address already in use 127.0.0.1:15463',
      },
      '--stsPort 15463: the port is in use',
      { host: '127.0.0.1', port: 15_463, choose: '--stsPort' },
    ],
    [
      'a status port that this user may not have',
      { type: 'failed', reason: 'listen EACCES: permission denied 0.0.0.0:80' },
      '--statusPort 15020: this user may not listen on it: give --statusPort a port from 1024 on',
    ],
    [
      'a status port that cannot be had for another reason',
      { type: 'failed', reason: 'listen EMFILE' },
      '--statusPort 15020: listen EMFILE',
    ],
  ])('%s → 69', (_what, last, why, takenPort) => {
    expect(runExit(last, { agent: initialState }, ports)).toStrictEqual({
      code: 69,
      why,
      ...(takenPort !== undefined && { takenPort }),
    });
  });

  it.each([
    ['127.0.0.1:15000', '', { host: '127.0.0.1', port: 15_000, choose: '--proxyAdminPort' }],
    ['[::]:15021', '', { host: '::', port: 15_021, choose: 'ENVOY_STATUS_PORT' }],
    ['0.0.0.0:15090', '', { host: '0.0.0.0', port: 15_090, choose: 'ENVOY_PROMETHEUS_PORT' }],
    ['0.0.0.0:8080', '', { host: '0.0.0.0', port: 8080, choose: 'the listener that has it' }],
    [
      '0.0.0.0:15090',
      '/etc/envoy.yaml',
      { host: '0.0.0.0', port: 15_090, choose: 'the port in /etc/envoy.yaml' },
    ],
    ['/run/envoy.sock', '', undefined],
  ])(
    'an address of Envoy that is in use: %s with the file "%s"',
    (address, customConfigFile, takenPort) => {
      const agent: AgentState = {
        ...initialState,
        phase: 'stopped',
        outcome: { kind: 'address-taken', address },
      };
      const why = `Envoy cannot bind ${address}: the address is in use`;
      expect(
        runExit({ type: 'listening' }, { agent }, { ...ports, customConfigFile }),
      ).toStrictEqual({
        code: 69,
        why,
        ...(takenPort !== undefined && { takenPort }),
      });
    },
  );

  it.each([
    { exit: 'unavailable', code: 69 },
    { exit: 'config', code: 78 },
  ] as const)('a server beside Envoy that fails, $exit → $code', ({ exit, code }) => {
    const last = { type: 'servers-failed', exit, reason: 'no' } as const;
    expect(runExit(last, { agent: initialState }, ports)).toStrictEqual({ code, why: 'no' });
  });

  it.each([
    [
      '0.0.0.0:443',
      '',
      /: give it CAP_NET_BIND_SERVICE, lower net\.ipv4\.ip_unprivileged_port_start, or change the listener that has it$/,
    ],
    [
      '[::]:443',
      'envoy.yaml',
      /: give it CAP_NET_BIND_SERVICE, .* or change the port in envoy\.yaml$/,
    ],
    ['127.0.0.1:15000', '', /, or change --proxyAdminPort$/],
    ['/run/envoy.sock', 'envoy.yaml', /: let it write into that folder, or change the path$/],
  ])('says what to do if the user may not bind %s (%s)', (address, customConfigFile, why) => {
    const agent = {
      ...initialState,
      phase: 'stopped',
      outcome: { kind: 'address-denied', address },
    } as const;
    const exit = runExit({ type: 'listening' }, { agent }, { ...ports, customConfigFile });
    expect(exit).toMatchObject({ code: 69, why: expect.stringMatching(why) as string });
  });
});
