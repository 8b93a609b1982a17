import { dirname, relative, resolve, sep } from 'node:path';
import ts from 'typescript';

/** The configurations whose files are checked. The page is for browsers and has one of its own. */
const configurations = ['tsconfig.json', 'src/pilot-agent/page/tsconfig.json'];

/** One TypeScript program for each configuration of the project. Throws if one cannot be read. */
export function projectPrograms(): ts.Program[] {
  return configurations.map((file) => {
    const { config, error } = ts.readConfigFile(file, (path) => ts.sys.readFile(path)) as {
      config: unknown;
      error?: ts.Diagnostic;
    };
    if (error) throw new Error(diagnosticsText([error]));
    const { fileNames, options, errors } = ts.parseJsonConfigFileContent(
      config,
      ts.sys,
      dirname(file),
    );
    if (errors.length > 0) throw new Error(diagnosticsText(errors));
    // The declarations show whether a change of a file can affect the files that import it.
    const forShapes = {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      outDir: 'dist',
    };
    return ts.createProgram(fileNames, { ...options, ...forShapes });
  });
}

/** Returns the reports of the compiler, with places relative to the working directory. */
export function diagnosticsText(diagnostics: readonly ts.Diagnostic[]): string {
  return ts.formatDiagnostics(diagnostics, {
    getCurrentDirectory: () => process.cwd(),
    getCanonicalFileName: (name) => name,
    getNewLine: () => '\n',
  });
}

/** The files of the project in a program, without those of packages. */
export function ownFiles(program: ts.Program): ts.SourceFile[] {
  return program.getSourceFiles().filter(({ fileName }) => !fileName.includes('/node_modules/'));
}

/** The path of a file from the working directory, as Git writes it. */
export function pathOf(fileName: string): string {
  return relative(process.cwd(), resolve(fileName)).split(sep).join('/');
}
