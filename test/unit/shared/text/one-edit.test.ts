import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { controlPlaneVariables } from '../../../../scripts/docs/control-plane-variables.ts';
import { goFlags, goVariables, olderGoFlags } from '../../../../scripts/docs/go-agent-names.ts';
import { misspeltVariables } from '../../../../src/pilot-agent/config/misspelt-variables.ts';
import { flags } from '../../../../src/pilot-agent/config/flags.ts';
import { logFlags } from '../../../../src/shared/log/log-flags.ts';
import { knownFlags } from '../../../../src/pilot-agent/config/resolve-config.ts';
import { isOneEdit, meant } from '../../../../src/shared/text/one-edit.ts';
import { program } from '../../../../src/pilot-agent/cli/program.ts';
import { accepted, resolved } from '../../../support/resolved.ts';

describe('one edit', () => {
  it.each([
    ['a character too few', 'statusPrt'],
    ['a character too many', 'statusPorrt'],
    ['another character', 'statusPart'],
    ['two neighbours that have changed places', 'statusProt'],
    ['the case of one letter', 'statusport'],
    ['the case of all letters', 'STATUSPORT'],
    ['the first character', 'tatusPort'],
    ['the last character', 'statusPor'],
    ['one behind the last', 'statusPorts'],
  ])('is %s', (_, name) => {
    expect([isOneEdit(name, 'statusPort'), isOneEdit('statusPort', name)]).toEqual([true, true]);
  });

  it.each([
    ['nothing', 'statusPort'],
    ['two characters', 'statusPrtt'],
    ['two characters too few', 'statusPo'],
    ['two that are not neighbours', 'sPatustort'],
    ['the case of a letter and another character', 'statusport1'],
  ])('is not %s', (_, name) => {
    expect([isOneEdit(name, 'statusPort'), isOneEdit('statusPort', name)]).toEqual([false, false]);
  });

  it('is what is made by one, of any text', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.nat(),
        fc.string({ minLength: 1, maxLength: 1 }),
        (text, seed, character) => {
          const index = seed % (text.length + 1);
          const edited = [
            text.slice(0, index) + character + text.slice(index),
            text.slice(0, index) + text.slice(index + 1),
          ];
          for (const other of edited) expect(isOneEdit(text, other)).toBe(text !== other);
        },
      ),
    );
  });

  it('from two names means neither', () => {
    expect(meant('--ix', ['--id', '--ip'])).toBeUndefined();
    expect(meant('--idd', ['--id', '--ip'])).toBe('--id');
  });
});

/** The flags of `proxy` in the Go agents 1.0 to 1.30. */
const flagsOfGo = [
  ...Object.keys(goFlags),
  ...olderGoFlags,
  'kubeAppProberNameVar',
  'sds-identity-token-path',
  'sdsEnabled',
];

describe('a flag', () => {
  const problems = (...leftover: readonly string[]) => {
    const result = resolved({ leftover });
    return result.ok
      ? []
      : [result.usage, ...result.problems.map(({ place, text }) => `${place}: ${text}`)];
  };

  it.each([
    ['--statusPrt', '--statusPort'],
    ['--statusport', '--statusPort'],
    ['--statsuPort=1', '--statusPort'],
    ['-statusPort', '--statusPort'],
    ['--keepenvoy', '--keepEnvoy'],
    ['--log-target=x', '--log_target'],
    ['--hepl', '--help'],
    ['--outptu', '--output'],
  ])('%s is refused with a word for %s', (typo, right) => {
    expect(problems(typo, 'router')).toEqual([
      true,
      `${typo.replace(/=.*/, '')}: there is no such flag: did you mean ${right}?`,
    ]);
  });

  it.each(['--newThing', '--statusPorttt', '--ix', '-x', '--proxy'])(
    '%s is a warning, as before',
    (flag) => {
      expect(accepted({ leftover: [flag, 'router'] })).toMatchObject({
        config: { role: 'router' },
        warnings: [`unknown flag ${flag} is ignored`],
      });
    },
  );

  it('of any Go agent up to 1.30 is never refused', () => {
    const refused = flagsOfGo.filter(
      (name) =>
        !(name in { ...flags, ...logFlags }) && meant(`--${name}`, knownFlags) !== undefined,
    );
    expect(refused).toEqual([]);
  });

  it('that is known is each that a command with the flags of proxy has', () => {
    const all = program();
    const longFlags = [all, ...all.commands, ...all.commands.flatMap(({ commands }) => commands)]
      .filter(
        (command) =>
          command === all || command.options.some(({ long }) => long === '--templateFile'),
      )
      .flatMap(({ options }) => options.map(({ long }) => long ?? ''));
    expect(new Set([...longFlags, '--help'])).toEqual(new Set(knownFlags));
  });
});

/**
 * The variables that the Go agents 1.5 to 1.30 read or name, and those that Istio's injectors set.
 */
const istioVariables = [
  ...Object.keys(goVariables),
  ...controlPlaneVariables,
  ...`HOSTNAME HOME HOST_IP INVALID_DROP ISTIO_INBOUND_INTERCEPTION_MODE ISTIO_PROXY_USER ISTIO_VERSION K_REVISION NODE_NAME
    OUTPUT_KEY_CERT_TO_DIRECTORY PILOT_SAN POD_IP POD_UID PROXY_XDS_DEBUG_VIA_AGENT PROXY_XDS_VIA_AGENT REVISION
    SECRET_ROTATION_CHECK_INTERVAL SKIP_PARSE_TOKEN TOKEN_AUDIENCES USE_EXTERNAL_WORKLOAD_SDS XDS_AUTH`.split(
    /\s+/,
  ),
];

describe('a variable', () => {
  it.each([
    ['CA_ADR', 'CA_ADDR'],
    ['ca_addr', 'CA_ADDR'],
    ['PROXY_CONFG', 'PROXY_CONFIG'],
    ['TERMINATION_DRAIN_DURATION_SECOND', 'TERMINATION_DRAIN_DURATION_SECONDS'],
    ['ENVOY_STATUS_PRT', 'ENVOY_STATUS_PORT'],
    ['ENVOY_STATUSPORT', 'ENVOY_STATUS_PORT'],
    ['OUTPUT_CERT', 'OUTPUT_CERTS'],
  ])('%s is a warning with a word for %s', (typo, right) => {
    expect(misspeltVariables({ [typo]: 'x' })).toEqual([
      `${typo} is not known: did you mean ${right}?`,
    ]);
  });

  it.each<[what: string, env: NodeJS.ProcessEnv]>([
    ['of any Istio', Object.fromEntries(istioVariables.map((name) => [name, 'x']))],
    ...istioVariables.map((name): [string, NodeJS.ProcessEnv] => [
      `${name} alone`,
      { [name]: 'x' },
    ]),
    ['beside the one that is meant', { INSTANCE_IP: '10.0.0.1', INSTANCE_ID: 'i-1' }],
    [
      'of a service',
      {
        CA_SERVICE_HOST: '1',
        CA_SERVICE_PORT: '1',
        CA_SERVICE_PORT_GRPC: '1',
        CA_PORT: 'tcp://1:1',
        CA_PORT_80_TCP: 'tcp://1:1',
        CA_PORT_80_TCP_ADDR: '1',
        ENVOY_STATU_PORT: 'tcp://1:1',
      },
    ],
    [
      'of the metadata',
      { ISTIO_META_CLUSTERID: 'c', ISTIO_METAJSON_A: '{}', ISTIO_META_TLS_CLIENT_KE: '/k' },
    ],
    ['of a shell', { PATHS: '/', CPATH: '/', HOME: '/', LANG: 'C', PWD: '/', SHLVL: '1' }],
    ['that is like nothing', { CA_ADDRESS: 'x', MY_APP: 'x' }],
  ])('%s is not a warning', (_, env) => {
    expect(misspeltVariables(env)).toEqual([]);
  });
});
