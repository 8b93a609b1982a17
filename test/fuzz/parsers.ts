import type { FuzzedParser } from './parser.ts';
import { certificateRequests } from './parsers/certificate-requests.ts';
import { certificates } from './parsers/certificates.ts';
import { configuration } from './parsers/configuration.ts';
import { controlPlane } from './parsers/control-plane.ts';
import { crls } from './parsers/crls.ts';
import { discovery } from './parsers/discovery.ts';
import { exposition } from './parsers/exposition.ts';
import { mcp } from './parsers/mcp.ts';
import { overrides } from './parsers/overrides.ts';
import { secrets } from './parsers/secrets.ts';
import { service } from './parsers/service.ts';
import { status } from './parsers/status.ts';
import { values } from './parsers/values.ts';

/** All parsers of content from outside. */
export const parsers: readonly FuzzedParser[] = [
  ...values,
  ...configuration,
  ...overrides,
  ...secrets,
  ...discovery,
  ...controlPlane,
  ...mcp,
  ...certificateRequests,
  ...certificates,
  ...crls,
  ...exposition,
  ...service,
  ...status,
];
