import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { secretsConfig, type SecretsConfig } from '../config/secrets-config.ts';
import type { AgentConfig } from '../config/resolve-config.ts';
import { wayOfRotation, type WayOfRotation } from '../secrets/way-of-rotation.ts';

/** How secrets come to Envoy in this run. */
export interface SecretsPlan {
  readonly rotation: WayOfRotation;
  /** Of the secret discovery server. */
  readonly socket: string;
  /** Whether it is to run. */
  readonly isServed: boolean;
  readonly config: SecretsConfig;
  readonly warnings: readonly string[];
}

/** Looks at the environment, at Envoy's configuration and for a token, and makes the plan. */
export function secretsPlan({ rotation: given, configPath, customConfigFile }: AgentConfig, env: NodeJS.ProcessEnv): SecretsPlan {
  const socket = resolve(configPath, 'SDS');
  const { config, warnings } = secretsConfig(env);
  const text = customConfigFile === '' ? '' : readFileSync(customConfigFile, 'utf8');
  const namesSocket = [socket, join(configPath, 'SDS')].some((path) => text.includes(path));
  const rotation = wayOfRotation(given, namesSocket);
  const hasToken = config.token !== '' && existsSync(config.token);
  const isServed = rotation.way === 'sds' || namesSocket || config.provisioned !== '' || config.caAddress !== '' || hasToken;
  return { rotation, socket, isServed, config, warnings };
}
