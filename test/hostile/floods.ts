import { setTimeout as sleep } from 'node:timers/promises';
import { goodCsr, unsignedCsr } from './attempts.ts';
import type { Flood, Flooder, FloodOutcome } from './flood.ts';
import { askForCertificate, certificateRequest, secureSession } from './secure-calls.ts';
import type { SecureStage } from './secure-stage.ts';

/** A flood by one identity. */
export interface FloodRow {
  readonly name: string;
  readonly flood: Omit<Flood, 'client' | 'seconds'>;
  /** The statuses that it may get. */
  readonly statuses: readonly string[];
  /** Set if it has no certificate, but sends bad tokens from an address of its own. */
  readonly by?: 'tokens';
}

const perSecond = 1_000;

export const floods: readonly FloodRow[] = [
  {
    name: 'good requests, on one connection',
    flood: { call: { csr: goodCsr }, perSecond, connections: 1 },
    statuses: ['OK', 'RESOURCE_EXHAUSTED'],
  },
  {
    name: 'good requests, on 100 connections',
    flood: { call: { csr: goodCsr }, perSecond, connections: 100 },
    statuses: ['OK', 'RESOURCE_EXHAUSTED'],
  },
  {
    name: 'good requests, each on a new connection',
    flood: { call: { csr: goodCsr }, perSecond: 100, connections: 'new' },
    statuses: ['OK', 'RESOURCE_EXHAUSTED'],
  },
  {
    name: 'requests that their key has not signed',
    flood: { call: { csr: unsignedCsr() }, perSecond, connections: 1 },
    statuses: ['INVALID_ARGUMENT', 'RESOURCE_EXHAUSTED'],
  },
  {
    name: '15 KB that are not a request',
    flood: { call: { csr: 'x'.repeat(15_000) }, perSecond, connections: 10 },
    statuses: ['INVALID_ARGUMENT', 'RESOURCE_EXHAUSTED'],
  },
  {
    name: '3 MB that are not a request',
    flood: { call: { csr: 'x'.repeat(3 << 20) }, perSecond: 20, connections: 10 },
    statuses: ['INVALID_ARGUMENT', 'RESOURCE_EXHAUSTED'],
  },
  {
    name: 'tokens for another audience',
    flood: { call: { csr: goodCsr }, perSecond, connections: 10 },
    statuses: ['UNAUTHENTICATED', 'RESOURCE_EXHAUSTED'],
    by: 'tokens',
  },
];

/** The waiting times of others, in ms. */
export interface Waits {
  /** The median and the 99th percentile of the time for a certificate. */
  readonly median: number;
  readonly worst: number;
  /** The median of the time until a proxy has a change. */
  readonly change: number;
  readonly failed: number;
}

export interface FloodResult {
  readonly name: string;
  readonly outcome: FloodOutcome;
  readonly before: Waits;
  readonly during: Waits;
  /** The share of one processor that the control plane used meanwhile. */
  readonly cpu: number;
  readonly wrong: string;
}

/** The duration of a flood, in s. */
const lasts = 5;
/** The time between two requests of the other identity, in ms. */
const every = 20;

/** Requests certificates, and changes a service, for this many s. Resolves to the waiting times. */
async function waits(stage: SecureStage, account: string, seconds: number): Promise<Waits> {
  const session = secureSession(await stage.client(account));
  const bytes = certificateRequest({ csr: goodCsr });
  const end = performance.now() + seconds * 1_000;
  const changes: number[] = [];
  const changing = (async () => {
    while (performance.now() < end) changes.push((await stage.plane.change()).clock);
  })();
  const requests: ReturnType<typeof askForCertificate>[] = [];
  while (performance.now() < end) {
    requests.push(askForCertificate(session, bytes));
    await sleep(every);
  }
  const outcomes = await Promise.all(requests);
  await changing;
  session.destroy();
  const times = outcomes.map(({ ms }) => ms);
  return {
    median: quantile(times, 0.5),
    worst: quantile(times, 0.99),
    change: quantile(changes, 0.5),
    failed: outcomes.filter(({ status }) => status !== 'OK').length,
  };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)] ?? NaN;
}

export async function flooded(
  { name, flood, statuses, by }: FloodRow,
  index: number,
  { stage, flooder }: { readonly stage: SecureStage; readonly flooder: Flooder },
): Promise<FloodResult> {
  const certified = await stage.client(`noisy-${index}`);
  const from = `127.0.0.${100 + index}`;
  const [client, call] =
    by === 'tokens'
      ? [
          { ...certified, pair: undefined, from },
          { ...flood.call, token: stage.token('noisy', { aud: 'x' }) },
        ]
      : [certified, flood.call];
  const before = await waits(stage, `before-${index}`, lasts / 2);
  const [usedBefore, begun] = [stage.plane.used(), performance.now()];
  const [outcome, during] = await Promise.all([
    flooder.flood({ ...flood, client, call, seconds: lasts }),
    waits(stage, `other-${index}`, lasts),
  ]);
  const cpu = (stage.plane.used() - usedBefore) / (performance.now() - begun);
  const odd = Object.keys(outcome.statuses).filter((status) => !statuses.includes(status));
  const wrong = [
    ...odd.map((status) => `the flood gets ${status}`),
    ...(during.failed > 0 ? [`${during.failed} requests of others have failed`] : []),
  ];
  return { name, outcome, before, during, cpu, wrong: wrong.join('; ') };
}
