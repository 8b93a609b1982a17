import { lastValueFrom, of, timeout } from 'rxjs';
import { type HttpAnswer, httpAnswer } from '../../shared/http/http-answer.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { parseHostPort, portNumber } from '../../shared/text/host-port.ts';

/** How long an answer may take, in ms. */
const timeoutMs = 60_000;
/** Bytes of an answer: the `config_dump` of a proxy with 10,000 services has 40 MB. */
const largest = 256 << 20;

/** The flag with the address of a control plane, and its value. */
export interface RunningAddress {
  readonly flag: '--httpAddr' | '--against';
  readonly address: string;
}

/**
 * Asks a control plane that runs, and resolves to its answer. Rejects with a {@link Fatal} if the
 * address is wrong (64), or if nobody answers (69).
 */
export async function askRunning(
  { flag, address }: RunningAddress,
  method: 'GET' | 'POST',
  path: string,
): Promise<HttpAnswer> {
  const { host = '', port: digits } = parseHostPort(address) ?? {};
  const port = portNumber(digits);
  if (port === undefined)
    throw new Fatal(`${flag}: '${address}' is not host:port`, exitCodes.usage);
  const name = host === '' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  const url = `http://${name}:${port}/${path.replace(/^\//, '')}`;
  const silence = { ok: false, error: new Error('no answer within 60 s') } as const;
  const answer = await lastValueFrom(
    httpAnswer(url, { method }, largest).pipe(
      timeout({ first: timeoutMs, with: () => of(silence) }),
    ),
    { defaultValue: silence },
  );
  if (answer.ok) return answer.value;
  const why = answer.error instanceof Error ? answer.error.message : String(answer.error);
  throw new Fatal(
    `pilot-discovery does not answer at ${address}: ${why}: start it, or name its --httpAddr${flag === '--against' ? ' by --against' : ''}`,
    exitCodes.unavailable,
  );
}
