import { readdirSync, readFileSync } from 'node:fs';

const read = (path) => readFileSync(path, 'utf8').replaceAll('\r\n', '\n').trim();

/** The comment at the top of a file, as text; '' if it has no copyright. */
function headOf(file) {
  const [comment] = /^(?:\/\/.*\n)+/.exec(readFileSync(file, 'utf8')) ?? [''];
  return comment.includes('Copyright') ? comment.replace(/^\/\/ ?/gm, '').trim() : '';
}

/**
 * The licence texts of a package, from its licence files, or else from the top of its bundled
 * files.
 */
function textsOf(folder, { name, license }, files) {
  const noticeFiles = readdirSync(folder).filter((file) =>
    /^(?:licen[cs]e|notice|copying|copyright)/i.test(file),
  );
  if (noticeFiles.length > 0) return noticeFiles.map((file) => read(`${folder}/${file}`));
  const heads = [...new Set(files.map(headOf))].filter((head) => head !== '');
  if (heads.length === 0)
    throw new Error(
      `${name} (${license}) has no licence text. Say in scripts/notices.mjs where it is.`,
    );
  // The head only refers to that text.
  return license.includes('Apache-2.0') ? [...heads, read('LICENSE')] : heads;
}

const inputsOf = (metafiles) =>
  metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs)),
  );

/** The folders of all packages with code in the outputs of esbuild. */
export function packagesIn(metafiles) {
  const folders = inputsOf(metafiles).flatMap(
    (input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input) ?? [],
  );
  return [...new Set(folders)].sort();
}

/**
 * The licences of all packages with code in the outputs of esbuild. Each text is one section, below
 * the names of its packages.
 */
export function notices(metafiles) {
  const inputs = inputsOf(metafiles);
  const sections = new Map();
  for (const folder of packagesIn(metafiles)) {
    const description = JSON.parse(read(`${folder}/package.json`));
    const files = inputs.filter((input) => input.startsWith(`${folder}/`));
    const text = textsOf(folder, description, files).join('\n\n');
    const title = `${description.name} ${description.version} (${description.license})`;
    sections.set(text, [...(sections.get(text) ?? []), title]);
  }
  const line = '-'.repeat(80);
  return `The program contains parts of these packages.\n\n${[...sections].map(([text, titles]) => `${line}\n${titles.join('\n')}\n${line}\n\n${text}\n`).join('\n')}`;
}
