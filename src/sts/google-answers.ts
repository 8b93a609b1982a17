/** A token with its times, in ms since 1970. */
export interface GottenToken {
  readonly token: string;
  readonly issued: number;
  readonly expires: number;
}

/** What an answer of Google that has no time of expiry is good for. In ms. */
const standard = 3_600_000;

/** The token of an answer to `identitybindingtoken`; undefined if there is none. Pure. */
export function federatedTokenOf(text: string, now: number): GottenToken | undefined {
  const { access_token: token, expires_in: seconds } = members(text);
  if (typeof token !== 'string' || token === '') return undefined;
  return { token, issued: now, expires: now + (typeof seconds === 'number' ? seconds * 1000 : standard) };
}

/** The token of an answer to `generateAccessToken`. Pure. */
export function accessTokenOf(text: string, now: number): GottenToken | undefined {
  const { accessToken: token, expireTime } = members(text);
  if (typeof token !== 'string' || token === '') return undefined;
  const expires = typeof expireTime === 'string' ? Date.parse(expireTime) : Number.NaN;
  return { token, issued: now, expires: Number.isNaN(expires) ? now + standard : expires };
}

function members(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
