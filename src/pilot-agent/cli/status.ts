import { firstValueFrom } from 'rxjs';
import type { HttpAnswer } from '../../shared/http/http-answer.ts';
import { printable } from '../../shared/log/printable.ts';
import type { AgentReport } from '../report/agent-report.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { paintFor } from '../../shared/log/paint.ts';
import { sizeOf } from '../terminal/screen-size.ts';
import { statusScreen } from '../terminal/status-screen.ts';
import { agentFolder, askAgent } from './agent-socket.ts';
import { AgentGone } from './last-agent.ts';
import { print, printJson } from '../../shared/program/print.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

export interface StatusCommandOptions {
  /**
   * `--configPath` of an agent. If left out: that of the agent that runs here, else the default.
   */
  readonly configPath?: string;
  readonly output?: string;
}

/** Never used: a connection ends with an answer or an error. */
const silence: HttpAnswer = { status: 0, headers: {}, body: '' };

/**
 * `pilot-agent status`: prints the state of an agent: on a terminal as much as fits, elsewhere and
 * with `wide` everything. Resolves if the agent is ready. If it is not, the output says so, and
 * this rejects with a {@link Fatal} (1) without a message. If no agent answers, it rejects with 69;
 * if the agent has ended, `json` and `yaml` print its end.
 */
export async function status({ configPath, output }: StatusCommandOptions): Promise<void> {
  const report = await reportOf(configPath).catch(async (error: unknown) => {
    if (error instanceof AgentGone && isForm(output)) await printAs(output, { ended: error.end });
    throw error;
  });
  if (isForm(output)) await printAs(output, report);
  else await print(page(report, output === 'wide'));
  if (!report.ready.ok) throw new Fatal('', exitCodes.refused);
}

type Form = 'json' | 'yaml';

function isForm(output: string | undefined): output is Form {
  return output === 'json' || output === 'yaml';
}

/** Prints a value for a program. */
async function printAs(form: Form, value: unknown): Promise<void> {
  await (form === 'json'
    ? printJson(value)
    : print(printable((await import('yaml')).stringify(value))));
}

async function reportOf(configPath: string | undefined): Promise<AgentReport> {
  const where = await agentFolder(configPath);
  const answer = await firstValueFrom(askAgent(where, '/debug/status'), { defaultValue: silence });
  const report = answer.status === 200 ? parsed(answer.body) : undefined;
  if (report !== undefined) return report;
  const content = answer.status === 200 ? 'something else than its status' : `${answer.status}`;
  throw new Fatal(
    `the agent of ${where.folder} answers ${content}: it is of another version than this program`,
    exitCodes.unavailable,
  );
}

function parsed(text: string): AgentReport | undefined {
  try {
    const report = parseJson(text) as Partial<AgentReport> | null;
    return report?.agent !== undefined && report.ready !== undefined && Array.isArray(report.epochs)
      ? (report as AgentReport)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the page; in a file and with `wide` it is complete. */
function page(report: AgentReport, isWide: boolean): string {
  const { stdout } = process;
  const size = sizeOf(stdout);
  const room =
    isWide || !stdout.isTTY
      ? { width: Infinity, height: Infinity }
      : { ...size, height: size.height - 1 }; // the prompt
  return `${statusScreen(report, { ...room, isWide, paint: paintFor(stdout) }).join('\n')}\n`;
}
