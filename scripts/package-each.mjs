/**
 * Returns the requested CPUs; the CPU of this machine if none is requested. Throws if a CPU is
 * unknown, or if this machine has an unsupported CPU. Pure.
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

/** Calls `make` for each CPU, one after the other. A failure does not stop the others. */
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
