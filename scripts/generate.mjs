// Why: docs/decisions/069-a-part-of-envoys-api-is-generated.md
// Generates src/shared/proto from proto/. Run it after a change of proto/, and commit the result.
// The compiler and its plugin are fetched for the run, in exactly these versions: nothing else
// needs them, and they are large.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';

const template = {
  version: 'v2',
  plugins: [
    {
      local: 'protoc-gen-es',
      out: 'src/shared/proto',
      opt: ['target=ts', 'import_extension=ts', 'ts_nocheck=true'],
    },
  ],
};

rmSync('src/shared/proto', { recursive: true, force: true });
execFileSync(
  'npx',
  [
    '--yes',
    '--package=@bufbuild/buf@1.75.0',
    '--package=@bufbuild/protoc-gen-es@2.10.0',
    'buf',
    'generate',
    'proto',
    '--template',
    JSON.stringify(template),
  ],
  { stdio: 'inherit' },
);
execFileSync('npx', ['prettier', '--write', '--log-level', 'warn', 'src/shared/proto'], {
  stdio: 'inherit',
});
