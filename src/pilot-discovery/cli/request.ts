import { lastValueFrom, of, timeout } from 'rxjs';
import { httpAnswer } from '../../shared/http/http-answer.ts';
import { printable } from '../../shared/log/printable.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { print } from '../../shared/program/print.ts';
import { parseHostPort, portNumber } from '../../shared/text/host-port.ts';

/** How long an answer may take, in ms. */
const timeoutMs = 60_000;
/** Bytes of an answer: the `config_dump` of a proxy with 10,000 services has 40 MB. */
const largest = 256 << 20;

/**
 * `pilot-discovery request GET PATH`: prints what `--httpAddr` answers, and nothing else. Rejects
 * with a {@link Fatal} if nobody answers, and for a status above 399.
 */
export async function request(method: string, path: string, httpAddr: string): Promise<void> {
  if (method.toUpperCase() !== 'GET')
    throw new Fatal(`method: '${method}' is not GET`, exitCodes.usage);
  await printed('GET', path, httpAddr);
}

/** `pilot-discovery confirm`: lets the removals happen that are held back, and prints how many. */
export async function confirm(httpAddr: string): Promise<void> {
  await printed('POST', '/confirm', httpAddr);
}

async function printed(method: 'GET' | 'POST', path: string, httpAddr: string): Promise<void> {
  const { host = '', port: digits } = parseHostPort(httpAddr) ?? {};
  const port = portNumber(digits);
  if (port === undefined)
    throw new Fatal(`--httpAddr: '${httpAddr}' is not host:port`, exitCodes.usage);
  const name = host === '' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  const url = `http://${name}:${port}/${path.replace(/^\//, '')}`;
  const silence = { ok: false, error: new Error('no answer within 60 s') } as const;
  const answer = await lastValueFrom(
    httpAnswer(url, { method }, largest).pipe(
      timeout({ first: timeoutMs, with: () => of(silence) }),
    ),
    { defaultValue: silence },
  );
  if (!answer.ok) {
    const why = answer.error instanceof Error ? answer.error.message : String(answer.error);
    throw new Fatal(
      `pilot-discovery does not answer at ${httpAddr}: ${why}: start it, or name its --httpAddr`,
      exitCodes.unavailable,
    );
  }
  const { status, body } = answer.value;
  if (status > 399) throw new Fatal(`${path}: status ${status}: ${body.trim()}`, exitCodes.refused);
  await print(printable(body.endsWith('\n') ? body : `${body}\n`));
}
