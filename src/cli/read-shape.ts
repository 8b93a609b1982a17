import { readFileSync } from 'node:fs';
import { annotationsFile, labelsFile, readDownward } from './read-downward.ts';

/** The files beside the configuration that shape what Envoy is started from. */
export interface ShapeFiles {
  /** The text of `ISTIO_BOOTSTRAP_OVERRIDE`; empty for none. */
  readonly override: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Undefined where none is asked for. */
  readonly template: { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string } | undefined;
  readonly warnings: readonly string[];
}

export interface ShapePaths {
  readonly bootstrapOverride: string;
  readonly proxyBootstrapTemplatePath: string;
}

/** Reads them. An override that cannot be read is left out with a warning, as with the Go agent; labels and annotations that are not there are none. */
export function readShape({ bootstrapOverride, proxyBootstrapTemplatePath }: ShapePaths): ShapeFiles {
  const override = bootstrapOverride === '' ? undefined : read(bootstrapOverride);
  const labels = readDownward(labelsFile);
  return {
    override: override?.ok === true ? override.text : '',
    labels: labels.entries,
    annotations: readDownward(annotationsFile).entries,
    template: proxyBootstrapTemplatePath === '' ? undefined : read(proxyBootstrapTemplatePath),
    warnings: [
      ...(override?.ok === false ? [`ISTIO_BOOTSTRAP_OVERRIDE ${bootstrapOverride} is left out: ${override.reason}`] : []),
      ...labels.warnings,
    ],
  };
}

function read(path: string): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string } {
  try {
    return { ok: true, text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { ok: false, reason: `cannot be read: ${(error as Error).message}` };
  }
}
