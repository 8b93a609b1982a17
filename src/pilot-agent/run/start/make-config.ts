import { resolve } from 'node:path';
import type { BootstrapInputs, NodeMetadata, SdsInputs } from '../../bootstrap/bootstrap-inputs.ts';
import { bootstrap } from '../../bootstrap/envoy-bootstrap.ts';
import { nodeMetadata } from '../../bootstrap/node-metadata.ts';
import { renderTemplate } from '../../bootstrap/template.ts';
import { templateVariables } from '../../bootstrap/template-variables.ts';
import {
  controlPlaneOf,
  controlPlaneSans,
  mixerSan,
} from '../../bootstrap/control-plane-identity.ts';
import { nodeLocality, nodeString } from '../../bootstrap/node-id.ts';
import { largest, outsideFlaw, readOutsideSync } from '../../../shared/files/outside-file.ts';
import type { EpochConfig, Overlay } from '../../../epochs/ports.ts';
import { contentText, type Contribution } from '../../sources/contribution.ts';
import { annotationsFile, labelsFile, readDownward } from './effective-config.ts';
import type { Problem } from '../../../shared/text/value.ts';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { Facts } from './facts.ts';

/** The files, other than the agent's configuration, that affect what Envoy is started from. */
export interface ShapeFiles {
  /** The text of `ISTIO_BOOTSTRAP_OVERRIDE`; empty for none. */
  readonly override: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Undefined if no template is configured. */
  readonly template: FileText | undefined;
  /** Why Envoy must not read its custom configuration; undefined if it may. */
  readonly customFlaw: string | undefined;
  /** The text of the mesh file, unparsed: the configuration already contains its values. */
  readonly mesh: FileText | undefined;
  readonly warnings: readonly string[];
}

type FileText =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

export interface ShapePaths {
  readonly meshConfig: string;
  readonly bootstrapOverride: string;
  readonly proxyBootstrapTemplatePath: string;
  readonly customConfigFile: string;
}

/**
 * Reads the files of {@link ShapeFiles}. An override that cannot be read is left out with a
 * warning, as with the Go agent. Missing labels and annotations are empty; with
 * `--customConfigFile` they are not read.
 */
export function readShape({
  meshConfig,
  bootstrapOverride,
  proxyBootstrapTemplatePath,
  customConfigFile,
}: ShapePaths): ShapeFiles {
  const override = bootstrapOverride === '' ? undefined : read(bootstrapOverride);
  const isOwn = customConfigFile === '';
  const labels = isOwn ? readDownward(labelsFile) : { entries: {}, warnings: [] };
  return {
    override: override?.ok === true ? override.text : '',
    labels: labels.entries,
    annotations: isOwn ? readDownward(annotationsFile).entries : {},
    template: proxyBootstrapTemplatePath === '' ? undefined : read(proxyBootstrapTemplatePath),
    customFlaw: customConfigFile === '' ? undefined : outsideFlaw(customConfigFile, largest.envoy),
    mesh: meshConfig === '' ? undefined : read(meshConfig),
    warnings: [
      ...(override?.ok === false
        ? [`ISTIO_BOOTSTRAP_OVERRIDE ${bootstrapOverride} is left out: ${override.reason}`]
        : []),
      ...labels.warnings,
    ],
  };
}

function read(path: string): FileText {
  const file = readOutsideSync(path, largest.text);
  return file.kind === 'read'
    ? { ok: true, text: file.bytes.toString() }
    : { ok: false, reason: `cannot be read: ${file.reason}` };
}

export interface ConfigWithWarnings {
  readonly config: EpochConfig;
  readonly warnings: readonly string[];
}

export interface Surroundings {
  /** The contributions of sources other than the files. */
  readonly contributions?: readonly Contribution[];
  readonly facts: Facts;
  readonly sds: SdsInputs | undefined;
  /** The path of the socket of the xDS proxy; undefined if there is none. */
  readonly xdsSocket: string | undefined;
}

/**
 * Makes the configuration that Envoy is started from: that of a source, the custom configuration,
 * or a generated bootstrap. Then adds the overlays of sources. Pure.
 */
export function makeConfig(
  agentConfig: AgentConfig,
  files: ShapeFiles,
  surroundings: Surroundings,
): ConfigWithWarnings {
  const { contributions = [] } = surroundings;
  const overlays = overlaysOf(contributions);
  const envoyContribution = contributions.findLast(
    ({ use, content }) => use === 'envoy' && content !== undefined,
  );
  const text =
    envoyContribution === undefined ? undefined : contentText(envoyContribution.content ?? '');
  const base: ConfigWithWarnings =
    text === undefined
      ? makeOwn(agentConfig, files, surroundings)
      : {
          config: {
            kind: 'generated',
            text,
            origin: `source ${envoyContribution?.source ?? ''}`,
            extension: extensionOf(text),
            ...overrideOf(agentConfig, files),
          },
          warnings: files.warnings,
        };
  if (base.config.kind === 'refused') return base;
  const withAdminLayer = contributions.some(({ use }) => use === 'runtime');
  return {
    config: {
      ...base.config,
      ...(overlays.length > 0 && { overlays }),
      ...(withAdminLayer && { withAdminLayer }),
    },
    warnings: base.warnings,
  };
}

/** Returns the overlays of sources, in their order. */
function overlaysOf(contributions: readonly Contribution[]): readonly Overlay[] {
  return contributions.flatMap(({ source, use, at: field, content }) =>
    use === 'merge' && content !== undefined
      ? [{ source, at: field, text: contentText(content) }]
      : [],
  );
}

/** Returns the file extension, by which Envoy chooses its parser. */
function extensionOf(text: string): '.json' | '.yaml' {
  return text.trimStart().startsWith('{') ? '.json' : '.yaml';
}

/** Returns the override, and its path. */
function overrideOf(
  { bootstrapOverride }: AgentConfig,
  { override }: ShapeFiles,
): { readonly override: string; readonly overridePath?: string } {
  return override === '' ? { override } : { override, overridePath: bootstrapOverride };
}

/** Makes the custom configuration, or the bootstrap. */
function makeOwn(
  agentConfig: AgentConfig,
  files: ShapeFiles,
  surroundings: Surroundings,
): ConfigWithWarnings {
  const { facts, sds } = surroundings;
  const config: AgentConfig = { ...agentConfig, statsdUdpAddress: facts.statsd };
  const overridden = overrideOf(agentConfig, files);
  if (files.customFlaw !== undefined) {
    const place = `--customConfigFile ${config.customConfigFile}`;
    return refused([{ place, text: `cannot be read: ${files.customFlaw}` }], files.warnings);
  }
  if (config.customConfigFile !== '') {
    return {
      config: { kind: 'given', path: resolve(config.customConfigFile), ...overridden },
      warnings: files.warnings,
    };
  }
  const metadata = nodeMetadata({
    config,
    variables: config,
    labels: files.labels,
    annotations: files.annotations,
    addresses: config.node.addresses,
    platform: facts.platform.metadata,
    stsPort: config.stsPort,
    sds,
  });
  const basis: Basis = {
    // Without metadata the rest is still checked, so that all mistakes are reported together.
    inputs: inputsOf(config, metadata.ok ? metadata.metadata : {}, files.override, surroundings),
    config,
    flaws: metadata.ok ? [] : metadata.problems,
    warnings: [...files.warnings, ...(metadata.ok ? metadata.warnings : []), ...facts.warnings],
    overridden,
  };
  return files.template === undefined ? fromInputs(basis) : fromTemplate(files.template, basis);
}

/** The inputs of a bootstrap, and the flaws in them. */
interface Basis {
  readonly config: AgentConfig;
  readonly inputs: BootstrapInputs;
  readonly flaws: readonly Problem[];
  readonly warnings: readonly string[];
  readonly overridden: ReturnType<typeof overrideOf>;
}

function inputsOf(
  config: AgentConfig,
  metadata: NodeMetadata,
  override: string,
  { facts, sds, xdsSocket }: Surroundings,
): BootstrapInputs {
  return {
    config,
    metadata,
    serviceNode: nodeString(config.role, config.node),
    ipv6: config.node.ipv6,
    addresses: config.node.addresses,
    locality: nodeLocality(
      (metadata['LABELS'] ?? {}) as Readonly<Record<string, string>>,
      facts.platform.locality,
    ),
    sans: controlPlaneSans(controlPlaneOf(config), config.pilotIdentity),
    controlPlaneTls: config.controlPlaneTls,
    sds,
    xdsSocket,
    memoryLimit: facts.limits.memory,
    hasOverloadManager: /overload_?manager/i.test(override),
    deltaXds: config.deltaXds,
    prometheusPort: config.prometheusPort,
    healthPort: config.healthPort,
    outlierLogPath: config.outlierLogPath,
    stsPort: config.stsPort,
  };
}

function fromTemplate(
  template: FileText,
  { config, inputs, flaws, warnings, overridden }: Basis,
): ConfigWithWarnings {
  const place = config.proxyBootstrapTemplatePath;
  if (!template.ok) return refused([...flaws, { place, text: template.reason }], warnings);
  const variables = templateVariables({
    ...inputs,
    podName: config.podName,
    podNamespace: config.podNamespace,
    podIp: config.instanceIp,
    mixerSan: mixerSan(controlPlaneOf(config), config.mixerIdentity)[0]?.value ?? '',
    certProvider: config.pilotCertProvider ?? 'istiod',
    provisionedCert: config.provCert,
    disableInternalTelemetry: config.disableInternalTelemetry,
  });
  if (!variables.ok) return refused([...flaws, ...variables.problems], warnings);
  const rendered = renderTemplate(template.text, variables.variables);
  if (!rendered.ok) return refused([...flaws, { place, text: rendered.reason }], warnings);
  if (flaws.length > 0) return refused(flaws, warnings);
  const extension = /\.yaml(\.tmpl)?$/.test(place) ? '.yaml' : '.json';
  return {
    config: {
      kind: 'generated',
      text: rendered.text,
      template: place,
      extension,
      ...overridden,
    },
    warnings: [...warnings, ...variables.warnings],
  };
}

function fromInputs({ inputs, flaws, warnings, overridden }: Basis): ConfigWithWarnings {
  const result = bootstrap(inputs);
  if (!result.ok || flaws.length > 0)
    return refused([...flaws, ...(result.ok ? [] : result.problems)], warnings);
  const text = `${JSON.stringify(result.bootstrap, undefined, 2)}\n`;
  return {
    config: { kind: 'generated', text, extension: '.json', ...overridden },
    warnings: [...warnings, ...result.warnings],
  };
}

function refused(problems: readonly Problem[], warnings: readonly string[]): ConfigWithWarnings {
  return {
    config: {
      kind: 'refused',
      reason: problems.map(({ place, text }) => `${place}: ${text}`).join('; '),
    },
    warnings,
  };
}
