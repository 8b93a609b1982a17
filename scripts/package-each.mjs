/**
 * The CPUs that are asked for: that of this machine if none is. Throws for one that is unknown, and
 * for a machine of another kind, before anything is made. Pure.
 */
export function cpusToMake(requested, supported, machineCpu) {
  const cpus = [...new Set(requested.length === 0 ? [machineCpu] : requested)];
  const unknown = cpus.filter((cpu) => !supported.includes(cpu));
  if (unknown.length > 0)
    throw new Error(
      `there is no executable for ${unknown.join(', ')}: name ${supported.join(' or ')}`,
    );
  return cpus;
}

/**
 * Makes something for each CPU, one after the other. One that fails keeps no other from being made.
 */
export async function makeEach(cpus, make) {
  const results = [];
  const failures = [];
  for (const cpu of cpus) {
    try {
      results.push(await make(cpu));
    } catch (error) {
      failures.push({ cpu, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return { made: results, failures };
}
