import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import type { Timing } from './timings.ts';

/** A reporter that writes the times of each file, as JSON, into the folder that TIMINGS names. */
export default class NoteTimings implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const timings = modules.map((module): Timing => {
      const { duration, collectDuration, setupDuration } = module.diagnostic();
      const file = relative(process.cwd(), module.moduleId);
      return {
        file,
        seconds: (duration + collectDuration + setupDuration) / 1000,
        cpuSeconds: module.meta().cpuSeconds ?? 0,
      };
    });
    writeFileSync(
      join(process.env['TIMINGS'] ?? '', `${process.pid}.json`),
      JSON.stringify(timings),
    );
  }
}
