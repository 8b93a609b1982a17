import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { type TokenIssuer as Issuer, tokenIssuer } from '../../demo/token-issuer.ts';
import { freePorts } from '../support/free-ports.ts';
import { type CaStage, replace, untilAge } from './ca-stage.ts';
import { pause } from './outage.ts';
import { type CaOutage, renewed } from './run-ca-outage.ts';

const issuer = 'https://issuer.test';

/** A server of the keys of an issuer, which answers while it is open. */
interface KeyServer {
  readonly rule: string;
  readonly open: (issuer: Issuer) => Promise<void>;
  readonly close: () => Promise<void>;
}

async function makeKeyServer(): Promise<KeyServer> {
  const [port = 0] = await freePorts(1);
  let server: Server | undefined;
  return {
    rule: JSON.stringify({
      ...{ issuer, audiences: ['istio-ca'], jwksUri: `http://127.0.0.1:${port}/keys` },
    }),
    async open({ keys }) {
      server = createServer((_, response) => void response.end(keys));
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    async close() {
      server?.closeAllConnections();
      await new Promise((done) => (server === undefined ? done(0) : server.close(done)));
      server = undefined;
    },
  };
}

/** Writes a token for each agent, which reads it at each request. */
async function giveTokens(
  stage: CaStage,
  tokenOf: (namespace: string, account: string) => Promise<string> | string,
): Promise<void> {
  for (const { app, sidecar } of stage.pods()) {
    const file = join(sidecar.folder, 'var/run/secrets/tokens/istio-token');
    writeFileSync(file, await tokenOf(app.namespace, app.name));
  }
}

const tokensOf = (by: Issuer) => (namespace: string, account: string) =>
  by.sign({
    ...{ iss: issuer, aud: 'istio-ca', sub: `system:serviceaccount:${namespace}:${account}` },
  });

/**
 * Starts a control plane that trusts an issuer, and gives all agents tokens of `tokens`. The keys
 * of the issuers in `served` can be fetched from the start.
 */
async function startIssuer(
  stage: CaStage,
  served: readonly Issuer[],
  tokens: Issuer,
  later: Parameters<CaOutage['run']>[2],
): Promise<KeyServer> {
  const server = await makeKeyServer();
  const env = { JWT_RULE: server.rule, BLOCKED_CIDRS_IN_JWKS_URIS: 'none' };
  for (const issuer of served) await server.open(issuer);
  await replace(stage, { env });
  await giveTokens(stage, tokensOf(tokens));
  later(async () => {
    await giveTokens(stage, (namespace, account) => stage.kube.token(namespace, account));
    await replace(stage, {});
    await server.close();
  });
  return server;
}

const noKeys = {
  log: /caller_refused: .*there are no keys of https:\/\/issuer\.test/,
  metric: /^pilot_refused_callers\{status="UNAVAILABLE"\}/,
  agent: /cannot be authenticated now/,
};

/** Faults of an issuer of tokens, whose keys the control plane fetches. */
export const issuerOutages: readonly CaOutage[] = [
  {
    name: 'CA: the issuer of tokens is away when the control plane starts, until certificates are due',
    named: noKeys,
    async run(stage, over, later) {
      const tokens = tokenIssuer('one');
      await untilAge(stage, 12_000);
      const server = await startIssuer(stage, [], tokens, later);
      await untilAge(stage, 36_000);
      await server.open(tokens);
      over();
    },
  },
  {
    name: 'CA: the issuer of tokens is away for 40 s, as certificates are renewed',
    named: {},
    async run(stage, over, later) {
      const tokens = tokenIssuer('one');
      const server = await startIssuer(stage, [tokens], tokens, later);
      await renewed(stage);
      await server.close();
      await pause(40_000);
      await server.open(tokens);
      over();
    },
  },
  {
    name: 'CA: the issuer of tokens has a new key, which cannot be fetched as certificates are renewed',
    named: {
      log: /caller_refused: .*no applicable key/,
      metric: /^pilot_refused_callers\{status="UNAUTHENTICATED"\}/,
      agent: /no applicable key/,
    },
    async run(stage, over, later) {
      const [first, second] = [tokenIssuer('one'), tokenIssuer('two')];
      const server = await startIssuer(stage, [first], first, later);
      await renewed(stage);
      await server.close();
      await giveTokens(stage, tokensOf(second));
      await untilAge(stage, 36_000);
      await server.open(second);
      over();
    },
  },
];
