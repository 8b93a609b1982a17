/** What was found among the arguments that no known flag took. */
export interface FoundRole {
  /** The first argument that is neither an unknown flag nor the value of one; `sidecar` without one. */
  readonly role: string;
  readonly unknownFlags: readonly string[];
}

const roles: readonly string[] = ['sidecar', 'router'];

/**
 * The role among leftover arguments.
 *
 * Unknown flags are tolerated, as the Go agent does for the sake of newer injection templates. Without `=` such a flag takes the next token for
 * its value, unless that is a role: the Go agent lost the role there.
 */
export function resolveRole(leftover: readonly string[]): FoundRole {
  const unknownFlags: string[] = [];
  const positionals: string[] = [];
  let mayBeValue = false;
  for (const token of leftover) {
    if (token.startsWith('-')) {
      unknownFlags.push(token.replace(/=.*/s, ''));
      mayBeValue = !token.includes('=');
    } else {
      if (!mayBeValue || roles.includes(token)) positionals.push(token);
      mayBeValue = false;
    }
  }
  return { role: positionals[0] ?? 'sidecar', unknownFlags };
}
