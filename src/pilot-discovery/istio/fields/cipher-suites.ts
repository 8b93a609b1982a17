import { firstIndexes } from './first-indexes.ts';
import { below, list, needed, type ReadMember, warn, wrong } from './members.ts';

/** The suites that Envoy knows and Istio accepts. Envoy NACKs a listener with any other. */
const knownSuites: ReadonlySet<string> = new Set([
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-RSA-AES128-SHA',
  'ECDHE-ECDSA-AES256-SHA',
  'ECDHE-RSA-AES256-SHA',
  'AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
  'AES128-SHA',
  'AES256-SHA',
  '[ECDHE-ECDSA-AES128-GCM-SHA256|ECDHE-ECDSA-CHACHA20-POLY1305]',
  '[ECDHE-RSA-AES128-GCM-SHA256|ECDHE-RSA-CHACHA20-POLY1305]',
]);

/**
 * Reads the cipher suites of a server, each once. Leaves out an unknown suite, as Istio does. If no
 * suite is left, that is an error, because Envoy would use its defaults.
 */
export const cipherSuites: ReadMember<readonly string[]> = (value, place) => {
  const read = list(needed)(value, place);
  const firsts = firstIndexes(read);
  const suites = read.filter((suite, index) => {
    const suitePlace = below(place, `[${index}]`);
    if (suite !== '' && !knownSuites.has(suite))
      warn(suitePlace, `'${suite}' is not known, and is left out`);
    else if (firsts.get(suite) !== index) warn(suitePlace, `'${suite}' is there twice`);
    return knownSuites.has(suite) && firsts.get(suite) === index;
  });
  if (read.length > 0 && suites.length === 0)
    wrong(
      place,
      `none of them is known: give some such as ${[...knownSuites].slice(0, 4).join(', ')}`,
    );
  return suites;
};
