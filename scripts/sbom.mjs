import { readFileSync } from 'node:fs';
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';

const licences = new Contrib.License.Factories.LicenseFactory();
const components = new Contrib.FromNodePackageJson.Builders.ComponentBuilder(
  new Contrib.FromNodePackageJson.Factories.ExternalReferenceFactory(),
  licences,
);

function componentOf(folder, type = Enums.ComponentType.Library) {
  const description = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const component = components.makeComponent(description, type);
  const { name, version } = description;
  component.purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  component.bomRef.value = component.purl;
  return component;
}

/** The parts of Node: `process.versions` without versions of interfaces and data. */
function partsOf(versions) {
  const parts = Object.entries(versions).filter(
    ([name]) => !['node', 'modules', 'napi', 'unicode', 'cldr', 'tz'].includes(name),
  );
  return parts.map(([name, version]) => {
    const purl = `pkg:generic/${name}@${encodeURIComponent(version)}`;
    return new Models.Component(Enums.ComponentType.Library, name, { version, purl, bomRef: purl });
  });
}

/**
 * The content of an executable, as CycloneDX in JSON: the packages in `folders`, and Node. The
 * result depends only on the input: it has no time and no serial number.
 */
export function sbom({ folders, node, versions, sha256 }) {
  const bom = new Models.Bom();
  const program = componentOf('.', Enums.ComponentType.Application);
  program.hashes.set(Enums.HashAlgorithm['SHA-256'], sha256);
  bom.metadata.component = program;
  const runtime = componentOf(node, Enums.ComponentType.Platform);
  for (const part of partsOf(versions)) runtime.components.add(part);
  for (const component of [runtime, ...folders.map((folder) => componentOf(folder))]) {
    bom.components.add(component);
    program.dependencies.add(component.bomRef);
  }
  const serializer = new Serialize.JsonSerializer(
    new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6),
  );
  return serializer.serialize(bom, { sortLists: true, space: 2 });
}
