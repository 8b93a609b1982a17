import { encoded, type Transport } from './transport.ts';

/**
 * Runs one side of a transport, as the arguments say. `serve PORT SIZE TIMES` answers each request
 * TIMES times with SIZE bytes. `call PORT` prints the time of its first call, and opens two more
 * streams for each line of its input.
 */
export function run({ serve, connect }: Transport): void {
  const [side, port, size, times] = process.argv.slice(2);
  if (side === 'serve') {
    serve(Number(port), { bytes: encoded('a'.repeat(Number(size))), times: Number(times) });
    return;
  }
  const client = connect(Number(port));
  void client.open().then(() => {
    const cpu = process.cpuUsage();
    const figures = [performance.now(), (cpu.user + cpu.system) / 1_000];
    process.stdout.write(`${JSON.stringify(figures)}\n`);
    process.stdin.once('data', () => {
      void Promise.all([client.open(), client.open()]).then(() => process.stdout.write('open\n'));
    });
  });
}
