import type { FuzzedParser } from './parser.ts';
import { values } from './parsers/values.ts';

/** All parsers of what comes from outside. */
export const parsers: readonly FuzzedParser[] = [...values];
