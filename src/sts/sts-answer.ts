import type { Exchanged, TokenDump } from './token-exchange.ts';

export interface StsAnswer {
  readonly status: number;
  readonly type: 'application/json' | 'text/plain; charset=utf-8';
  readonly body: string;
}

/** What was wrong with a request, as RFC 6749 §5.2 has it. Pure. */
export function refusedAnswer(reason: string): StsAnswer {
  return json(400, { error: 'invalid_request', error_description: reason, error_uri: '' });
}

/** What came of an exchange (RFC 8693 §2.2). Who asks can do nothing about a failure: so it is a 500, as in the Go agent. Pure. */
export function exchangedAnswer(exchanged: Exchanged): StsAnswer {
  if (!exchanged.ok) return json(500, { error: 'invalid_target', error_description: exchanged.reason, error_uri: '' });
  return json(200, {
    access_token: exchanged.accessToken,
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: exchanged.expiresIn,
    scope: '',
    refresh_token: '',
  });
}

/** Which tokens there are; never the tokens. Pure. */
export function dumpAnswer(dump: TokenDump): StsAnswer {
  if (!dump.ok) return { status: 500, type: 'text/plain; charset=utf-8', body: `failure in dumping STS server status: ${dump.reason}\n` };
  const time = (ms: number) => new Date(ms).toISOString();
  const tokens = dump.tokens.map(({ type, issued, expires }) => {
    return { token_type: type, issue_time: time(issued), expire_time: time(expires), token: '' };
  });
  return json(200, { tokens });
}

function json(status: number, value: object): StsAnswer {
  return { status, type: 'application/json', body: `${JSON.stringify(value, undefined, 2)}\n` };
}
