import { readConfigFile } from '../../config/config-file.ts';
import { environment } from '../../config/environment.ts';
import { parseText } from '../../config/parse-text.ts';
import type { Problem } from '../../../shared/text/value.ts';
import { resolveConfig } from '../../config/resolve-config.ts';
import { findMembers, type TextPosition } from '../../../shared/text/text-position.ts';
import { noLayers } from '../../config/text-layers.ts';
import { largest, readOutsideSync } from '../../../shared/files/outside-file.ts';

/** A finding in a file. */
export interface Remark extends TextPosition {
  /** A file with a mistake is refused; a file with only warnings is used. */
  readonly kind: 'mistake' | 'warning';
  /** The path of the member, and how to correct it. */
  readonly text: string;
}

/**
 * Checks one configuration file of the agent, as if there were no flags, variables and other files.
 * Returns all findings in the order of the file.
 */
export async function checkFile(path: string): Promise<readonly Remark[]> {
  const read = readOutsideSync(path, largest.text);
  if (read.kind !== 'read')
    return [{ kind: 'mistake', line: 0, column: 0, text: `cannot be read: ${read.reason}` }];
  const text = read.bytes.toString();
  const content = await parseText(text);
  if (!content.ok) return [unparsed(content.reason)];

  const file = readConfigFile(path, content);
  const surroundings = environment(file.environment);
  const resolved = resolveConfig({
    given: {},
    leftover: [],
    surroundings,
    addresses: [],
    layers: noLayers,
    file,
  });
  const find = await findMembers(text);
  const asRemark =
    (kind: Remark['kind']) =>
    (problem: Problem): Remark => {
      const member = memberOf(problem.place, file.name, file.environment);
      const { name, value } = find(member);
      const isUnknown = problem.text.startsWith('is not known');
      return {
        kind,
        ...(isUnknown ? name : value),
        text: member === '' ? problem.text : `${member}: ${problem.text}`,
      };
    };
  const warnings = resolved.ok
    ? resolved.warnings.map((warning) => asProblem(warning, file.name))
    : [];
  const remarks = [
    ...(resolved.ok ? [] : resolved.problems).map(asRemark('mistake')),
    ...warnings.map(asRemark('warning')),
  ];
  return remarks.sort((a, b) => a.line - b.line || a.column - b.column);
}

/** Takes the position from the parser's message, if it has one. */
function unparsed(reason: string): Remark {
  const [, line = '1', column = '1', text = reason] =
    /^line (\d+), column (\d+): (.*)$/s.exec(reason) ?? [];
  return { kind: 'mistake', line: Number(line), column: Number(column), text };
}

/** Returns the path of a member, from the name that other places use for it. */
function memberOf(
  place: string,
  name: string,
  variables: Readonly<Record<string, string>>,
): string {
  if (place.startsWith(`${name}: `)) return place.slice(name.length + 2);
  const variable = place.replace(/^\$/, '');
  return Object.hasOwn(variables, variable) ? `environment.${variable}` : '';
}

/** Splits a warning into the place that it begins with, and its text. */
function asProblem(warning: string, name: string): Problem {
  const place = warning.startsWith(`${name}: `)
    ? `${name}: ${warning.slice(name.length + 2).split(/:? /, 1)[0] ?? ''}`
    : '';
  return { place, text: place === '' ? warning : warning.slice(place.length).replace(/^:? /, '') };
}
