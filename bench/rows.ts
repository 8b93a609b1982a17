import { goFive, goThirty } from './contenders.ts';

/** A row of the table of all: what is measured, and what it is measured against. */
export interface Row {
  readonly id: string;
  readonly what: string;
  readonly unit: string;
  readonly digits: number;
  /** Which is better. */
  readonly better: 'less' | 'more';
  readonly goal: string;
  /** Whether a value of this agent reaches the goal, beside those of `figures`. */
  readonly reached: (value: number, of: (who: string) => number, bare: number) => boolean;
  /** Why not, where it does not. */
  readonly why: string;
}

/** All rows, in the order of the page. `bare` is the Node of the contender that does nothing. */
export const rows: readonly Row[] = [
  { id: 'spawned', what: "exec → Envoy's process starts", unit: 'ms', digits: 0, better: 'less', goal: '≤ 2 × Go 1.5', reached: (value, of) => value <= 2 * of(goFive), why: 'no program of Node comes below bare Node. On top come what Node loads of its own modules, the code cache that V8 deserializes, and the first turn of the pipeline: [by module](#where-the-time-of-a-start-goes)' }, // prettier-ignore
  { id: 'live', what: 'exec → LIVE', unit: 'ms', digits: 0, better: 'less', goal: '≤ 1.3 × Go 1.5', reached: (value, of) => value <= 1.3 * of(goFive), why: 'Envoy takes about 50 ms for every agent; what comes on top is the start above' }, // prettier-ignore
  { id: 'pod-ready', what: 'ready in a real pod: token, CA, xDS over TLS', unit: 'ms', digits: 0, better: 'less', goal: '≤ 1.2 × Go 1.30', reached: (value, of) => value <= 1.2 * of(goThirty), why: 'the start above, gRPC, which is loaded at the first connection, and a key that is made' }, // prettier-ignore
  { id: 'idle-rss', what: 'memory when idle (RSS)', unit: 'MB', digits: 1, better: 'less', goal: '≤ bare Node + 15 MB', reached: (value, _, bare) => value <= bare + 15, why: "the pages of Node's own program that are touched: they are a file's, and shared by all agents of a machine" }, // prettier-ignore
  { id: 'idle-own', what: '… its own (RssAnon)', unit: 'MB', digits: 1, better: 'less', goal: '≤ bare Node + 6 MB', reached: (value, _, bare) => value <= bare + 6, why: 'nearly all of it is there once the modules are loaded, before the agent runs: their text, their bytecode, and what Node itself loads for them: [by module](#what-the-modules-take)' }, // prettier-ignore
  { id: 'idle-pss', what: '… its share (Pss)', unit: 'MB', digits: 1, better: 'less', goal: '–', reached: () => true, why: '' },
  { id: 'pod-rss', what: '… in a real pod (RSS)', unit: 'MB', digits: 1, better: 'less', goal: '–', reached: () => true, why: '' },
  { id: 'pod-own', what: '… in a real pod, its own (RssAnon)', unit: 'MB', digits: 1, better: 'less', goal: '≤ bare Node + 15 MB', reached: (value, _, bare) => value <= bare + 15, why: 'gRPC and x509, which are loaded then ([by module](#what-the-modules-take)), TLS connections, and the last resources of the control plane' }, // prettier-ignore
  {
    id: 'pod-pss',
    what: '… in a real pod, its share (Pss)',
    unit: 'MB',
    digits: 1,
    better: 'less',
    goal: '–',
    reached: () => true,
    why: '',
  },
  { id: 'loaded-more', what: 'more memory after full load on the status port (RSS)', unit: 'MB', digits: 1, better: 'less', goal: '≤ 10 MB', reached: (value) => value <= 10, why: 'malloc keeps what the requests took, and V8 its pages and the code that it has compiled: [by part](#what-an-agent-holds-after-load)' }, // prettier-ignore
  { id: 'loaded-own', what: '… its own then (RssAnon)', unit: 'MB', digits: 1, better: 'less', goal: '–', reached: () => true, why: '' },
  { id: 'rotated-more', what: 'more memory after rotations (RSS)', unit: 'MB', digits: 1, better: 'less', goal: '≤ 10 MB', reached: (value) => value <= 10, why: 'V8 keeps pages that are empty in part, and malloc what it was given: [by part](#what-an-agent-holds-after-load)' }, // prettier-ignore
  { id: 'idle-cpu', what: 'CPU when idle', unit: '% of a core', digits: 2, better: 'less', goal: '≤ 0.05 % of a core', reached: (value) => value <= 0.05, why: 'Envoy is looked at every 5 s, so that one that hangs is noticed' }, // prettier-ignore
  { id: 'probes', what: 'readiness probes, 8 clients', unit: '/s', digits: 0, better: 'more', goal: '≥ 5 × Go 1.5', reached: (value, of) => value >= 5 * of(goFive), why: 'each probe is a request that `node:http` reads and writes; Go 1.5 asks Envoy for each, and takes both cores' }, // prettier-ignore
  { id: 'scrape-shared', what: 'merged scrapes, 10 KB, 8 clients', unit: '/s', digits: 0, better: 'more', goal: '≥ 3 × Go 1.30', reached: (value, of) => value >= 3 * of(goThirty), why: 'one answer is shared, but each is written to its reader by itself' }, // prettier-ignore
  { id: 'scrape-alone', what: '… one after the other', unit: '/s', digits: 0, better: 'more', goal: '≥ 1.5 × Go 1.30', reached: (value, of) => value >= 1.5 * of(goThirty), why: 'three HTTP exchanges by `node:http`, one after the other on one core, cost more than the rows. Go 1.30 reads no row: a family that two sources have reaches Prometheus twice' }, // prettier-ignore
  { id: 'scrape-large', what: '… with 1 MB', unit: '/s', digits: 0, better: 'more', goal: '≥ 1.5 × Go 1.30', reached: (value, of) => value >= 1.5 * of(goThirty), why: 'Go 1.30 copies a megabyte unread. Here each row is looked at: that no other has its name and labels, and that it is sound: [by module](#where-the-time-of-a-scrape-goes)' }, // prettier-ignore
  { id: 'rotated', what: 'change of a certificate → new epoch LIVE', unit: 'ms', digits: 0, better: 'less', goal: '≤ 1.2 × Go 1.5', reached: (value, of) => value <= 1.2 * of(goFive), why: "the pair is read and checked again when the window closes, and two small programs make the FIFO and guard Envoy's life. Go 1.5 starts the next Envoy unchecked" }, // prettier-ignore
  { id: 'failed', what: 'failed requests in hot restarts under load', unit: '', digits: 0, better: 'less', goal: '0', reached: (value) => value === 0, why: 'this is a bug' }, // prettier-ignore
  { id: 'pushed', what: 'change of the files → served, by push', unit: 'ms', digits: 0, better: 'less', goal: '≤ 50 ms', reached: (value) => value <= 50, why: 'the files of a change are gathered for 20 ms, and are then read and checked' }, // prettier-ignore
];
