import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Copy, type Dockerfile, DockerfileParser } from 'dockerfile-ast';
import { builtGuard } from '../built-guard.ts';

/** The root file system of the image, built from the container file without a daemon. */
export interface Image {
  readonly root: string;
  /** The command that starts the program, before the arguments of `CMD`. */
  readonly entry: readonly string[];
  readonly user: string;
  /** The paths of its executable files, without libraries. */
  readonly programs: readonly string[];
  dispose(): void;
}

export const containerFile = readFileSync('deploy/Containerfile', 'utf8');

const executable = `executable/pilot-agent-linux-${process.arch}`;

/** Returns the words of the last instruction of that name. */
export function wordsOf(file: Dockerfile, name: string): readonly string[] {
  const instruction = file
    .getInstructions()
    .findLast((instruction) => instruction.getKeyword() === name);
  const text = instruction?.getArgumentsContent() ?? '';
  return text.startsWith('[') ? (JSON.parse(text) as string[]) : text.split(/\s+/);
}

/**
 * Makes the files of the last stage. Files of other stages are copied from this machine; the base
 * consists of the libraries that the programs are linked with. Undefined if the guard cannot be
 * built.
 *
 * @param envoy the path of the program that replaces the stage of Envoy
 */
export function makeImage(envoy: string): Image | undefined {
  const root = mkdtempSync(join(tmpdir(), 'pilot-agent-image-'));
  const guard = builtGuard(root, 'The image, without a shell');
  if (guard === undefined) return undefined;
  const entry: string[] = [];
  const programs: string[] = [];
  const file = DockerfileParser.parse(containerFile);
  const stage = file
    .getInstructions()
    .slice(
      file.getInstructions().findLastIndex((instruction) => instruction.getKeyword() === 'FROM'),
    );
  for (const copy of stage.filter((instruction) => instruction instanceof Copy)) {
    const words = copy
      .getArguments()
      .map((argument) => argument.getValue().replace('$CPU', process.arch));
    const to = words.at(-1) ?? '';
    const flags = new Map(copy.getFlags().map((flag) => [flag.getName(), flag.getValue()]));
    for (const from of words.slice(0, -1)) {
      const target = join(root, to, to.endsWith('/') ? basename(from) : '');
      mkdirSync(dirname(target), { recursive: true });
      if (from === '/empty') mkdirSync(target, { mode: 0o700 });
      else if (from === executable && !existsSync(from))
        continue; // Node and the bundle replace it, below
      else if (from.startsWith('executable/') && !existsSync(from)) {
        if (basename(from).startsWith(basename(guard))) cpSync(guard, target);
      } else cpSync(from === '/usr/local/bin/envoy' ? envoy : from, target, { dereference: true });
      const mode = flags.get('chmod');
      if (typeof mode === 'string') chmodSync(target, Number.parseInt(mode, 8));
      const [owner, group] = (flags.get('chown') ?? '0:0').split(':').map(Number);
      if (existsSync(target)) chownSync(target, owner ?? 0, group ?? 0);
      if (existsSync(target) && statSync(target).isFile() && (statSync(target).mode & 0o111) !== 0)
        programs.push(target);
    }
  }
  rmSync(guard);
  const words = wordsOf(file, 'ENTRYPOINT');
  if (existsSync(executable)) entry.push(...words);
  else {
    const places = ['/usr/local/bin/node', '/usr/local/bin/pilot-agent.cjs'];
    cpSync(process.execPath, join(root, places[0] ?? ''), { dereference: true });
    for (const name of readdirSync('dist').filter((each) => each !== 'lib'))
      cpSync(join('dist', name), join(root, '/usr/local/bin', name));
    programs.push(join(root, places[0] ?? ''));
    entry.push(...words.slice(0, -1), ...places);
  }
  for (const program of programs) {
    const linked = execFileSync('sh', ['-c', 'ldd "$0" || true', program], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    for (const [, library = ''] of linked.matchAll(/(\/\S+) \(0x/g))
      cpSync(library, join(root, library), { dereference: true });
  }
  for (const folder of ['proc', 'dev', 'tmp']) mkdirSync(join(root, folder), { recursive: true });
  chmodSync(root, 0o755);
  return {
    root,
    entry,
    user: wordsOf(file, 'USER')[0] ?? '',
    programs: programs.map((program) => program.slice(root.length)),
    dispose: () => rmSync(root, { recursive: true }),
  };
}
