import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Runs a real istiod over a folder of YAML files: `controlPlane FOLDER PORT`; undefined where there
 * is none to be had.
 */
const path = resolve('../shared/peers/istiod');
export const controlPlane: string | undefined = existsSync(path) ? path : undefined;
