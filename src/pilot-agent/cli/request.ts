import { firstValueFrom } from 'rxjs';
import { type AdminAnswer, adminClient } from '../../proxy/admin-client.ts';
import type { Settled } from '../../operators/settle.ts';
import { flags } from '../config/flags.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { print } from '../../shared/program/print.ts';
import { readPort } from './read-port.ts';
import { byFolder, nobodyHere, theAgent } from './the-agent.ts';

export interface RequestOptions {
  /**
   * The port of Envoy's admin endpoint on 127.0.0.1. If left out: the port that the running Envoy
   * has recorded, else 15000.
   */
  readonly port?: string;
  /**
   * `--configPath` of an agent. If left out: that of the agent that runs here, else the default.
   */
  readonly configPath?: string;
}

/** In ms, as in the Go agent. */
const timeoutMs = 60_000;
const silence: Settled<AdminAnswer> = { ok: false, error: new Error('it closed the connection') };

/**
 * `pilot-agent request`: sends one request to Envoy's admin endpoint and prints only the answer, so
 * that a program can read it. 404 is an answer too. Rejects with a {@link Fatal} for any other
 * status above 399, and if there is no answer within 60 s.
 */
export async function request(
  method: string,
  path: string,
  body: string | undefined,
  { port, configPath }: RequestOptions,
): Promise<void> {
  const verb = (['GET', 'POST'] as const).find((name) => name === method.toUpperCase());
  if (verb === undefined)
    throw new Fatal(`method: '${method}' is not GET or POST`, exitCodes.usage);
  const givenPort = port === undefined ? undefined : readPort('port', port);
  const target = `/${path.replace(/^\//, '')}`.replace(/[^\x21-\x7e]/gu, encodeURIComponent);
  const agent =
    port === undefined && configPath === undefined ? await theAgent(byFolder) : undefined;
  const folder = configPath ?? agent?.configPath ?? flags.configPath.default;
  const usual = agent?.proxyAdminPort ?? Number(flags.proxyAdminPort.default);
  const admin =
    givenPort === undefined
      ? adminClient(`${folder}/envoy-admin-address`, usual)
      : adminClient('', givenPort);

  const answer = await firstValueFrom(admin.request(verb, target, timeoutMs, body), {
    defaultValue: silence,
  });
  if (!answer.ok) {
    const why = (answer.error as Error).message;
    const alone = (port ?? configPath ?? agent) === undefined ? ` (${nobodyHere})` : '';
    const fix = 'start an agent, or name the admin port of one by --port';
    throw new Fatal(
      `Envoy's admin endpoint does not answer: ${why}${alone}: ${fix}`,
      exitCodes.unavailable,
    );
  }
  const { status, body: text } = answer.value;
  if (status > 399 && status !== 404)
    throw new Fatal(`received unsuccessful status code ${status}: ${text}`, exitCodes.refused);
  await print(`${text}\n`);
}
