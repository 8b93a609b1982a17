/**
 * `node --import tsx test/chaos/attacker.ts STATUS_PORT METRICS_PORT` attacks an agent like a
 * hostile neighbour: another container of the pod, and the application behind the scrapes. It runs
 * until it is killed. It prints `ready`, then each thing that should never happen.
 */
import { spawn } from 'node:child_process';
import { createServer, get, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [statusPort = 0, metricsPort = 0] = process.argv.slice(2).map(Number);

/** The text of 150,000 metrics, just below the limit of 10 MiB. */
const names = Array.from(
  { length: 150_000 },
  (_, n) => `metric_of_the_application_with_a_long_name_${n}{of="${n}"} 1\n`,
).join('');
/** Lines for which a quadratic regular expression needed seconds. */
const blanks = `a${' '.repeat(100_000)}!\n`.repeat(20);
let answers = 0;
createServer((_, response) => response.end(answers++ % 4 === 3 ? blanks : names)).listen(
  metricsPort,
  '127.0.0.1',
);

/** Sends 16 scrapes at once every 2 s. Their timeouts differ, so they do not share an answer. */
async function scrape(): Promise<never> {
  for (;;) {
    for (let number = 1; number <= 16; number += 1) {
      const headers = { 'x-prometheus-scrape-timeout-seconds': String(1 + number / 100) };
      get({ port: statusPort, path: '/stats/prometheus', headers, agent: false }, (response) =>
        response.resume(),
      ).on('error', () => undefined);
    }
    await sleep(2_000);
  }
}

/**
 * Sends requests that only local clients may send, from 127.0.0.6: Envoy uses this address for
 * traffic from outside.
 */
async function order(): Promise<never> {
  for (;;) {
    for (const path of ['/quitquitquit', '/drain', '/restart', '/logging?level=off']) {
      const from = { host: '127.0.0.1', localAddress: '127.0.0.6' };
      request({ ...from, port: statusPort, path, method: 'POST', agent: false }, (response) => {
        if (response.resume().statusCode === 200) console.log(`${path} is answered from 127.0.0.6`);
      })
        .on('error', () => undefined)
        .end();
    }
    await sleep(500);
  }
}

/**
 * A Python program that sends a request to terminate to each abstract socket of an Envoy. A message
 * has its length first, and then the request as in Envoy's `hot_restart.proto`.
 */
const terminate = `import re, socket, time
while True:
  for name in re.findall(r'@(envoy_domain_socket_parent\\S+)', open('/proc/net/unix').read()):
    try:
      socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(bytes([0, 0, 0, 0, 0, 0, 0, 4, 0x0a, 2, 0x2a, 0]), '\\0' + name)
      print(name + ' takes what a stranger sends', flush=True)
    except OSError:
      pass
  time.sleep(0.5)`;
spawn('/usr/bin/python3', ['-c', terminate], { stdio: ['ignore', 'inherit', 'ignore'] }).on(
  'error',
  () => undefined,
);

console.log('ready');
void scrape();
void order();
