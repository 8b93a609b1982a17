import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import ts from 'typescript';
import { ownFiles, pathOf } from './project-programs.ts';

/** By path: a hash of everything that affects the verdict of the compiler and the linter. */
export type FileKeys = ReadonlyMap<string, string>;

/** By key of a file: the hash of its declarations, from an earlier run. */
export type Shapes = ReadonlyMap<string, string>;

/**
 * The keys of all files of a program. A file with the same key has the same verdict. A key covers
 * the text of the file and the *shape* (the declarations) of everything that it imports, directly
 * or not. So a change inside a function affects only that file, and a change of a type affects
 * every file that can see the type.
 *
 * The compiler makes the shapes that are not in `knownShapes`, which costs time. The result has the
 * shapes that the next run needs.
 */
export function fileKeys(
  program: ts.Program,
  world: string,
  knownShapes: Shapes,
): { readonly keys: FileKeys; readonly shapes: Shapes } {
  const files = filesOf(program);
  const imports = importsOf(program, files);
  const imported = new Set([...imports.values()].flat());
  /** Declarations that apply without an import: `declare global`, or `declare module`. */
  const everywhere = hash([...files.values()].filter(isAmbient).map(({ text }) => text));
  const keys = new Map<string, string>();
  const shapes = new Map<string, string>();

  const shapeOf = (path: string): string => {
    const key = keyOf(path);
    const file = files.get(path);
    if (file === undefined || file.isDeclarationFile) return key;
    const shape =
      shapes.get(key) ?? knownShapes.get(key) ?? hash([declarationsOf(program, file) ?? key]);
    shapes.set(key, shape);
    return shape;
  };
  const keyOf = (path: string): string => {
    const done = keys.get(path);
    if (done !== undefined) return done;
    // Ends the recursion if imports form a circle.
    keys.set(path, hash([files.get(path)?.text ?? '']));
    const below = (imports.get(path) ?? []).map((name) => `${name} ${deepShapeOf(name)}`).sort();
    const key = hash([world, everywhere, path, files.get(path)?.text ?? '', ...below]);
    keys.set(path, key);
    return key;
  };
  const deep = new Map<string, string>();
  /** The shape of a file and of everything that it imports, because a type may be re-exported. */
  const deepShapeOf = (path: string): string => {
    const done = deep.get(path);
    if (done !== undefined) return done;
    deep.set(path, hash([files.get(path)?.text ?? '']));
    const shape = hash([shapeOf(path), ...(imports.get(path) ?? []).map(deepShapeOf).sort()]);
    deep.set(path, shape);
    return shape;
  };

  for (const path of files.keys()) keyOf(path);
  for (const path of imported) shapeOf(path);
  return { keys, shapes };
}

/** By path: the files of the project in a program. */
function filesOf(program: ts.Program): ReadonlyMap<string, ts.SourceFile> {
  return new Map(ownFiles(program).map((file) => [pathOf(file.fileName), file]));
}

/** By path: the paths of the project's files that a file imports. */
function importsOf(
  program: ts.Program,
  files: ReadonlyMap<string, ts.SourceFile>,
): ReadonlyMap<string, readonly string[]> {
  const pathsIn = (file: ts.SourceFile) => {
    const { importedFiles } = ts.preProcessFile(file.text, true, true);
    return [...new Set(importedFiles.map(({ fileName }) => fileName))].flatMap((name) => {
      const { resolvedModule } = ts.resolveModuleName(
        name,
        file.fileName,
        program.getCompilerOptions(),
        ts.sys,
        undefined,
        undefined,
        ts.ModuleKind.ESNext,
      );
      const path = resolvedModule && pathOf(resolvedModule.resolvedFileName);
      return path !== undefined && files.has(path) ? [path] : [];
    });
  };
  return new Map([...files].map(([path, file]) => [path, pathsIn(file)]));
}

/**
 * The files of a program whose verdict may change if the `changed` files do and their shapes are
 * unknown: the changed files, and all that import them, directly or not. Returns all files if a
 * changed file was removed or has ambient declarations, since its readers are then unknown.
 */
export function reachedFiles(program: ts.Program, changed: readonly string[]): ReadonlySet<string> {
  const files = filesOf(program);
  const isEverywhere = (path: string) =>
    /\.tsx?$/.test(path) && (!existsSync(path) || isAmbient(files.get(path)));
  if (changed.some(isEverywhere)) return new Set(files.keys());
  const imports = [...importsOf(program, files)];
  const reached = new Set(changed.filter((path) => files.has(path)));
  for (const path of reached)
    for (const [importer, paths] of imports) if (paths.includes(path)) reached.add(importer);
  return reached;
}

const isAmbient = (file: ts.SourceFile | undefined): boolean =>
  file !== undefined && /^declare (?:global|module)\b/m.test(file.text);

/**
 * The declarations of a file; undefined if the compiler cannot write them. Then the shape of the
 * file is its key.
 */
function declarationsOf(program: ts.Program, file: ts.SourceFile): string | undefined {
  let declarations: string | undefined;
  program.emit(file, (_, text) => (declarations = text), undefined, true);
  return declarations;
}

function hash(parts: readonly string[]): string {
  const sha = createHash('sha256');
  for (const part of parts) sha.update(`${String(part.length)}:${part}`);
  return sha.digest('hex').slice(0, 32);
}
