import type { FuzzedParser } from './parser.ts';
import { exposition } from './parsers/exposition.ts';
import { overrides } from './parsers/overrides.ts';
import { status } from './parsers/status.ts';
import { values } from './parsers/values.ts';

/** All parsers of what comes from outside. */
export const parsers: readonly FuzzedParser[] = [...exposition, ...overrides, ...status, ...values];
