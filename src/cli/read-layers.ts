import { readFileSync } from 'node:fs';
import type { Content, Layers } from '../config/layers.ts';
import { parseText } from './parse-text.ts';
import { annotationsFile, readDownward } from './read-downward.ts';

/** Reads and parses the texts of the configuration. A file that is not there is none; one that cannot be read is told. */
export async function readLayers(meshFile: string, env: NodeJS.ProcessEnv): Promise<Layers> {
  const mesh = meshFile === '' ? undefined : await readMesh(meshFile);
  const { entries: annotations, warnings } = readDownward(annotationsFile);
  return {
    mesh: mesh && { path: meshFile, content: mesh },
    proxyConfig: await parsed(env['PROXY_CONFIG']),
    annotation: await parsed(annotations['proxy.istio.io/config']),
    annotations,
    warnings,
  };
}

/** Undefined for a file that is not there. */
async function readMesh(path: string): Promise<Content | undefined> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? undefined : { ok: false, reason: `cannot be read: ${message}` };
  }
  return parseText(text);
}

async function parsed(text: string | undefined): Promise<Content | undefined> {
  return text === undefined || text.trim() === '' ? undefined : parseText(text);
}
