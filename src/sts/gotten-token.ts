/** A token with its times, in ms since 1970. */
export interface GottenToken {
  readonly token: string;
  readonly issued: number;
  readonly expires: number;
}

/** What an answer that has no time of expiry is good for. In ms. */
const standard = 3_600_000;

/** The token of an answer of Google to `identitybindingtoken`, or to `generateAccessToken`, which has other names; undefined if there is none. Pure. */
export function gottenToken(text: string, now: number): GottenToken | undefined {
  const { access_token: federated, expires_in: seconds, accessToken: access, expireTime } = members(text);
  const token = federated ?? access;
  if (typeof token !== 'string' || token === '') return undefined;
  const expires = typeof seconds === 'number' ? now + seconds * 1000 : typeof expireTime === 'string' ? Date.parse(expireTime) : Number.NaN;
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
