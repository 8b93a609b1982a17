import { checkCustomConfig, checkedConfig } from '../run/check-config.ts';
import { Fatal } from '../../shared/program/exit.ts';
import type { Around } from './around.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('configuration');

/** Checks flags, variables and files, and everything that they name. */
export async function checkConfiguration({ resolved, plan }: Around): Promise<readonly Finding[]> {
  const wrong = await Promise.all([
    reasonOf(() => checkedConfig(resolved)),
    reasonOf(() => checkCustomConfig(resolved)),
  ]);
  const problems = wrong.flatMap((reason) => (reason === undefined ? [] : [reason]));
  const warnings = [...(resolved.ok ? resolved.warnings : []), ...plan.warnings];
  const findings = [
    ...problems.map((reason) => fail('configuration wrong', reason, 'correct the named value')),
    ...warnings.map((warning) =>
      warn('config.warning', warning, 'correct the named value, unless it is intended'),
    ),
  ];
  return findings.length > 0 ? findings : [ok('flags, variables and files are in order')];
}

async function reasonOf(action: () => unknown): Promise<string | undefined> {
  try {
    await action();
    return undefined;
  } catch (error) {
    if (error instanceof Fatal) return error.message;
    throw error;
  }
}
