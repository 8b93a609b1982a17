/** The paths of rules and calls. All words are few, so that calls meet rules. */
export const paths = [
  '/',
  '/a',
  '/a/',
  '/a/b',
  '/A/b',
  '/ab',
  '/item/12',
  '/item/x',
  '/c%20d',
  '/e/../a',
  '//a',
  '/deep/er/path',
] as const;
export const queries = ['', '', '', '?debug=1', '?debug=2', '?x=1&debug=1'] as const;
export const methods = ['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'] as const;
export const users = ['', '', 'admin', 'abc', 'xyz'] as const;
export const blocks = ['', '', '', '1'] as const;
export const origins = ['', '', 'https://x.com', 'https://y.com'] as const;

/** The services that have rules, by their host; `echo.mesh` is behind a sidecar. */
export const meshHosts = ['a.mesh', 'b.mesh', 'c.mesh', 'echo.mesh'] as const;
export type MeshHost = (typeof meshHosts)[number];

/** Hosts of the gateway, beside one that it does not have. */
export const gatewayHosts = ['a.example.com', 'b.example.com', 'x.wild.example.com'] as const;

/** The subsets of each service; `c.mesh` has none. */
export const subsetsOf: Readonly<Record<MeshHost, readonly string[]>> = {
  'a.mesh': ['v1', 'v2'],
  'b.mesh': ['v1', 'v2'],
  'c.mesh': [],
  'echo.mesh': ['v1', 'v2'],
};
