import { makeRelay, type Place } from './relay.ts';

/**
 * The program `relay-program.ts FROM TO [FROM TO …]`. It relays connections, and prints a line when
 * it accepts them.
 */
const places = process.argv
  .slice(2)
  .map((text): Place => (/^\d+$/.test(text) ? Number(text) : text));
for (let index = 0; index < places.length; index += 2)
  await makeRelay(places[index] ?? '', places[index + 1] ?? '').open();
console.log('open');
