const times = Number(process.env['MODEL_RUNS'] ?? 1);

/**
 * Returns how many runs a property of a model gets. `npm run models` sets `MODEL_RUNS`, a factor:
 * a fault that shows in one run of 100,000 then shows in minutes.
 */
export const modelRuns = (usual: number): number => usual * times;
