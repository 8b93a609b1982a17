import { request as httpRequest } from 'node:http';
import { of } from 'rxjs';
import { routes } from '../../src/pilot-agent/status/routes.ts';
import { statusServer } from '../../src/shared/http/status-server.ts';
import { agentReport } from './agent-report.ts';
import { statusParts } from './status-parts.ts';

/**
 * Sends requests to every endpoint, with four methods, from every address in the arguments, without
 * an origin and with a foreign one. Prints a line for each: `PATH METHOD ADDRESS ORIGIN STATUS`.
 * The last line is `EVENTS` with the actions that were requested of the agent. This is a separate
 * program, so that it can run in a network namespace.
 */
const addresses = process.argv.slice(2);
const paths = [
  '/healthz/ready',
  '/healthz/live',
  '/healthz/startup',
  '/app-health/a/livez',
  '/stats/prometheus',
  '/version',
  '/quitquitquit',
  '/drain',
  '/restart',
  '/logging?level=info',
  '/debug/epochs',
  '/debug/status',
  '/debug/events',
  '/debug/sources',
  '/debug/config',
  '/debug/pprof/profile?seconds=0.01',
  '/debug/pprof/heap',
  '/',
];
const port = 15_020;

const events: string[] = [];
const admin = {
  ...statusParts().admin,
  request: () => of({ ok: true as const, value: { status: 200, body: '' } }),
};
const quick = {
  ...statusParts({ admin, profileToken: 'token', report$: of(agentReport()) }),
  admin: { ...admin, open: () => of() },
};
const serving = statusServer(port, routes(quick)).subscribe({
  next: ({ type }) => events.push(type),
  error: (error: unknown) => events.push(String(error)),
});

const ask = (host: string, method: string, path: string, origin: string) =>
  new Promise<number>((done, fail) => {
    const headers = {
      ...(origin === '-' ? {} : { origin }),
      'x-prometheus-scrape-timeout-seconds': '0.1',
    };
    const outgoing = httpRequest(
      { host, port, method, path, headers, agent: false, localAddress: host },
      (response) => {
        const answered = () => done(response.statusCode ?? 0);
        if (method === 'GET' && response.headers['content-type'] === 'text/event-stream')
          response.on('error', answered).on('close', answered).destroy(); // the stream has no end
        else response.resume().on('end', answered);
      },
    );
    outgoing.on('error', fail).end();
  });

while (events.length === 0) await new Promise((done) => setTimeout(done, 10));
for (const path of paths)
  for (const method of ['GET', 'POST', 'PUT', 'HEAD'])
    for (const address of addresses)
      for (const origin of ['-', 'https://evil.example'])
        console.log(
          path.replace(/\?.*/, ''),
          method,
          address,
          origin,
          await ask(address, method, path, origin),
        );
console.log('EVENTS', events.slice(1).join(' '));
serving.unsubscribe();
