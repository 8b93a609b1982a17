import { describe, expect, it } from 'vitest';
import type { Epoch, Stage } from '../../../../../src/epochs/epoch.ts';
import { type AgentState, initialState } from '../../../../../src/epochs/model.ts';
import { unreadiness } from '../../../../../src/pilot-agent/status/probe/readiness.ts';

const epochs = (...stages: readonly Stage[]): Pick<AgentState, 'epochs'> => ({
  epochs: new Map(
    stages.map((stage, number): [number, Epoch] => [
      number,
      { hash: 'a', restartEpoch: number, lineage: 0, parentTime: 'over', stage, answering: true },
    ]),
  ),
});
const silent = (stage: Stage, number = 0): Pick<AgentState, 'epochs'> => ({
  epochs: new Map([
    [
      number,
      { hash: 'a', restartEpoch: number, lineage: 0, parentTime: 'over', stage, answering: false },
    ],
  ]),
});
const crashed = { lastEpoch: 0, crashes: 1 };
const refused = { hash: 'b', reason: 'key.pem: the key does not parse' };

describe('unreadiness', () => {
  it.each<{ what: string; state: Partial<AgentState>; reason: string | undefined }>([
    { what: 'nothing has been started', state: {}, reason: 'Envoy has not been started yet' },
    {
      what: 'certificates are waited for',
      state: { awaited: ['/c/key.pem', '/c/root.pem'] },
      reason: 'waiting for /c/key.pem, /c/root.pem',
    },
    { what: 'the first epoch starts: Envoy knows', state: epochs('starting'), reason: undefined },
    { what: 'an epoch is LIVE', state: epochs('live'), reason: undefined },
    {
      what: 'a child starts beside a LIVE parent',
      state: epochs('live', 'starting'),
      reason: undefined,
    },
    {
      what: 'a child is LIVE beside a parent that drains',
      state: epochs('draining', 'live'),
      reason: undefined,
    },
    { what: 'an epoch is silent', state: silent('live'), reason: 'Envoy does not answer' },
    {
      what: 'an epoch is silent while it starts',
      state: silent('starting'),
      reason: 'Envoy does not answer',
    },
    {
      what: 'a child is silent while it starts beside a LIVE parent',
      state: { epochs: new Map([...epochs('live').epochs, ...silent('starting', 1).epochs]) },
      reason: undefined,
    },
    {
      what: 'a child is silent while it starts beside a silent parent',
      state: { epochs: new Map([...silent('live').epochs, ...silent('starting', 1).epochs]) },
      reason: 'Envoy does not answer',
    },
    {
      what: 'a change was refused, and the old epoch serves',
      state: { ...epochs('live'), refused },
      reason: undefined,
    },
    { what: 'a crash was made good', state: { ...epochs('live'), ...crashed }, reason: undefined },
    {
      what: 'Envoy has crashed',
      state: crashed,
      reason: 'Envoy has crashed and waits to be started again',
    },
    {
      what: 'the child has crashed, and its parent drains already',
      state: { ...epochs('draining'), ...crashed },
      reason: 'Envoy has crashed and waits to be started again',
    },
    {
      what: 'Envoy has crashed, and what is on disk is refused',
      state: { ...crashed, refused },
      reason: 'Envoy is not running: configuration refused: key.pem: the key does not parse',
    },
    {
      what: 'an epoch makes way for the next',
      state: epochs('stopping'),
      reason: 'Envoy is being replaced',
    },
    {
      what: 'the agent drains',
      state: { ...epochs('live'), phase: 'draining' },
      reason: 'draining',
    },
    {
      what: 'the agent ends Envoy',
      state: { ...epochs('stopping'), phase: 'stopping' },
      reason: 'terminating',
    },
    { what: 'the agent has ended', state: { phase: 'stopped' }, reason: 'terminating' },
  ])('$what → $reason', ({ state, reason }) => {
    expect(unreadiness({ ...initialState, ...state } as AgentState)).toBe(reason);
  });
});
