import { format, resolveConfig } from 'prettier';
import { agentSchema } from '../src/pilot-agent/config/json-schema.ts';
import { variables } from './docs/variables.ts';

export const schemaPath = 'schema/pilot-agent.schema.json';

/** The JSON Schema of a configuration file, as the text of its file. */
export async function schemaText(): Promise<string> {
  const texts = Object.fromEntries(
    Object.values(variables)
      .flat()
      .map(({ name, text }) => [
        name,
        text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', ''),
      ]),
  );
  return format(JSON.stringify(agentSchema(texts)), {
    ...(await resolveConfig(schemaPath)),
    filepath: schemaPath,
  });
}
