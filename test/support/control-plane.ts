import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const path = resolve('../shared/peers/istiod');
/**
 * The program that runs a real istiod over a folder of YAML files: `controlPlane FOLDER PORT`.
 * Undefined if none can be had here.
 */
export const controlPlane: string | undefined = existsSync(path) ? path : undefined;
