import * as z from 'zod/mini';
import type { Flag } from '../../shared/text/flag.ts';
import { agentFlagsSchema } from './agent-config.ts';
import { probersForm } from './app-probes.ts';
import { fileFlags, fileLogFlags, fileMembers, fileVariables } from './config-file.ts';
import { flags } from './flags.ts';
import { freeVariable } from './known-variables.ts';
import { logFlags } from '../../shared/log/log-flags.ts';
import { proxyConfigSchema } from './proxy-config.ts';
import { descriptions, ofFile, ofIstio, ofSources, parts } from './schema-texts.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

type Node = Readonly<Record<string, unknown>>;

/**
 * Returns the JSON Schema of a configuration file of the agent, made from the schemas that check
 * it. It defines ProxyConfig separately. Throws if a field has no description. Pure.
 *
 * @param variables the description of each variable
 */
export function agentSchema(variables: Readonly<Record<string, string>>): Node {
  const schema = partial({ ...proxyConfigSchema.shape, ...agentFlagsSchema.shape });
  const ofFlags = fileFlags.map((name) => {
    const flag: Flag = flags[name as keyof typeof flags];
    const path = (flag.field ?? name).split('.');
    const node = path.reduce<Node>(
      (above, part) => ownMember(above['properties'] as Readonly<Record<string, Node>>, part) ?? {},
      schema,
    );
    return [name, { ...node, description: flag.text, ...standardOf(flag) }] as const;
  });
  const ofLog = Object.entries(fileLogFlags).map(([name, form]) => {
    const flag = logFlags[name as keyof typeof fileLogFlags];
    return [name, { ...schemaNode(form), description: flag.text, ...standardOf(flag) }] as const;
  });
  const nodes: Readonly<Record<keyof typeof ofFile, Node>> = {
    $schema: { type: 'string' },
    role: schemaNode(fileMembers.role),
    environment: environmentSchema(variables),
    proxyConfig: { allOf: [{ $ref: '#/definitions/ProxyConfig' }] },
    probers: schemaNode(probersForm()),
    sources: sourcesSchema(),
  };
  const members = Object.entries(nodes).map(
    ([name, node]) =>
      [name, { description: ofFile[name as keyof typeof ofFile], ...node }] as const,
  );
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration file of pilot-agent',
    type: 'object',
    properties: Object.fromEntries([...members, ...ofFlags, ...ofLog]),
    additionalProperties: false,
    definitions: { ProxyConfig: proxyConfigNode() },
  };
}

/**
 * Returns the schema of a ProxyConfig in PROXY_CONFIG, a mesh file, an annotation or a
 * configuration file.
 */
export function proxyConfigNode(): Node {
  return { title: 'ProxyConfig', ...described(partial(proxyConfigSchema.shape)) };
}

/** Converts a schema to draft 7, which editors support best. */
function schemaNode(schema: z.ZodMiniType): Node {
  const node = Object.entries(
    z.toJSONSchema(schema, { io: 'input', reused: 'inline', target: 'draft-7' }),
  );
  return Object.fromEntries(node.filter(([name]) => name !== '$schema'));
}

function partial(shape: z.core.$ZodLooseShape): Node {
  return schemaNode(z.exactPartial(z.object(shape)));
}

function standardOf({ default: standard }: Flag): Node {
  if (standard === '') return {};
  return { default: /^(?:\d+|true|false)$/.test(standard) ? parseJson(standard) : standard };
}

/** A number or a boolean may be written without quotes. */
function environmentSchema(texts: Readonly<Record<string, string>>): Node {
  const properties = [...fileVariables()].map(([name, kind]) => {
    const description = ownMember(texts, name);
    if (description === undefined) throw new Error(`${name} has no description`);
    return [name, { description, anyOf: [schemaNode(kind), { type: ['number', 'boolean'] }] }];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties) as Node,
    patternProperties: { [freeVariable.source]: { type: ['string', 'number', 'boolean'] } },
    additionalProperties: false,
  };
}

function sourcesSchema(): Node {
  const { items, ...list } = schemaNode(fileMembers.sources) as {
    readonly items: { readonly oneOf: readonly Node[] };
  };
  const oneOf = items.oneOf.map((kind) => {
    const fields = Object.entries(kind['properties'] as Readonly<Record<string, Node>>).map(
      ([name, field]) => {
        const description = ownMember(ofSources, name);
        if (description === undefined) throw new Error(`${name} of a source has no description`);
        return [name, { description, ...field }];
      },
    );
    return { ...kind, properties: Object.fromEntries(fields) as Node };
  });
  return { ...list, items: { oneOf } };
}

const alone = new Set([...Object.keys(ofIstio), 'tracing.openCensusAgent', 'tracing.customTags']);
const flagOf = new Map(
  Object.entries<Flag>(flags).map(([name, flag]) => [flag.field ?? name, flag]),
);

/** Adds the description and the default of each field to a schema. */
function described(schema: Node, path = ''): Node {
  if (schema['properties'] === undefined) return schema;
  const fields = Object.entries(schema['properties'] as Readonly<Record<string, Node>>).map(
    ([name, field]) => {
      const below = `${path}${name}`;
      const flag = flagOf.get(below);
      const description =
        ownMember(descriptions, below) ??
        ownMember(ofIstio as typeof descriptions, below) ??
        flag?.text ??
        ownMember(parts, name);
      if (description === undefined) throw new Error(`${below} has no description`);
      const standard = flag === undefined || path !== '' ? {} : standardOf(flag);
      return [
        name,
        { description, ...standard, ...(alone.has(below) ? field : described(field, `${below}.`)) },
      ];
    },
  );
  return { ...schema, properties: Object.fromEntries(fields) };
}
