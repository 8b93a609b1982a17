// Why: docs/decisions/050-a-hanging-read-keeps-the-process.md
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readOutsideSync } from '../../../shared/files/outside-file.ts';
import { remove, writeWhole } from '../../../shared/files/whole-file.ts';
import { exitCodes, type Fatal } from '../../../shared/program/exit.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';

/**
 * The file is in the folder of `--configPath`, from the end of an agent to the start of the next
 * one.
 */
const fileName = 'ended.json';
/** The limit of the file, in bytes, and of a text in it, in characters. */
const largest = 16 << 10;
const longest = 2_000;

const form = z.object({
  /** ISO 8601. */
  at: z.iso.datetime(),
  startedAt: z.iso.datetime(),
  pid: z.number(),
  version: z.string(),
  /** The exit code of the agent. */
  code: z.number(),
  reason: z.string(),
  /** Advice on how to fix it; missing if nothing is wrong. */
  fix: z.optional(z.string()),
});

/** How an agent ended, as it reported on its way out. */
export type AgentEnd = Readonly<z.output<typeof form>>;

/** The end of an agent that does not fail. */
export interface GoodEnd {
  /** A signal, or an endpoint; undefined if its Envoy ended without a request. */
  readonly askedBy: string | undefined;
  /** `--keepEnvoy`: its Envoy goes on. */
  readonly leaves: boolean;
}

/** The agent that ended, and its lifetime. Times in ms since 1970. */
export interface Lived {
  readonly pid: number;
  readonly version: string;
  readonly startedAt: number;
  readonly at: number;
}

/** Returns the record of an end. Pure. */
export function agentEnd(
  { pid, version, startedAt, at: endedAt }: Lived,
  end: GoodEnd | Fatal,
): AgentEnd {
  const lived = {
    at: new Date(endedAt).toISOString(),
    startedAt: new Date(startedAt).toISOString(),
    pid,
    version,
  };
  if ('code' in end)
    return { ...lived, code: end.code, reason: cut(end.reason), fix: cut(end.fix) };
  return { ...lived, code: exitCodes.ok, reason: cut(goodReason(end)) };
}

function goodReason({ askedBy, leaves }: GoodEnd): string {
  if (askedBy === undefined) return 'its last Envoy ended cleanly, and nobody asked it to';
  return `it was asked to stop (${askedBy})${leaves ? ', and its Envoy goes on' : ''}`;
}

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/**
 * Writes the end of an agent into its folder, which the agent still owns. Synchronous. Never
 * throws: if the file cannot be written, the log and the exit code still say the same.
 */
export function keepEnd(folder: string, end: AgentEnd): void {
  try {
    writeWhole(join(folder, fileName), `${JSON.stringify(end)}\n`);
  } catch {
    // A full disk must not delay the end.
  }
}

/** Removes the end of an earlier agent. Synchronous; never throws. */
export function forgetEnd(folder: string): void {
  remove(join(folder, fileName));
}

/** Returns the end of the last agent of a folder; undefined if none is recorded. Never throws. */
export function endIn(folder: string): AgentEnd | undefined {
  const file = readOutsideSync(join(folder, fileName), largest);
  if (file.kind !== 'read') return undefined;
  try {
    return z.parse(form, parseJson(file.bytes.toString()));
  } catch {
    return undefined;
  }
}
