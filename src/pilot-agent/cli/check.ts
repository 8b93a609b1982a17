import { aroundOf } from '../check/around.ts';
import { findingsText } from '../check/findings-text.ts';
import { runChecks } from '../check/run-checks.ts';
import type { GivenFlags } from '../config/flag-layer.ts';
import type { GivenLogFlags } from '../../shared/log/log-options.ts';
import { printable, printableJson } from '../../shared/log/printable.ts';
import type { AgentHere } from '../run/end/agents-here.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { paintFor } from '../../shared/log/paint.ts';

export interface CheckCommandOptions extends GivenLogFlags {
  /** `text` or `json`. */
  readonly output: string;
}

/**
 * `pilot-agent check`: writes what is right and wrong for an agent with this command line, before
 * its start or while it runs. Changes nothing. Rejects with 1 if something will keep the proxy from
 * serving, and with 64 if the command line itself is wrong.
 */
export async function check(
  given: GivenFlags,
  leftover: readonly string[],
  { output, ...logFlags }: CheckCommandOptions,
): Promise<void> {
  const around = await aroundOf({ given, leftover, logFlags });
  const findings = (await runChecks(around)).map((finding) => ({
    ...finding,
    what: oneLine(finding.what),
  }));
  const { agent } = around;
  if (output === 'json')
    console.log(printableJson(JSON.stringify({ ...(agent && { agent }), findings }, undefined, 2)));
  else {
    const { columns, isTTY } = process.stdout;
    const options = { width: isTTY ? columns : Infinity, paint: paintFor(process.stdout) };
    console.log(findingsText(heading(agent, around.config.configPath), findings, options));
  }
  if (findings.some(({ level }) => level === 'fail')) throw new Fatal('', exitCodes.refused);
}

function heading(agent: AgentHere | undefined, folder: string): string {
  return agent === undefined
    ? `no agent runs with --configPath ${folder}: these are the checks before its start`
    : `agent ${agent.version} runs (process ${agent.pid}, --configPath ${agent.configPath})`;
}

/** Puts a text from outside on one line, and escapes its control characters. */
function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim());
}
