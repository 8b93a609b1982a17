import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';

describe('dist/THIRD-PARTY-NOTICES.txt', () => {
  const line = '-'.repeat(80);
  const sections = readFileSync('dist/THIRD-PARTY-NOTICES.txt', 'utf8')
    .split(`${line}\n`)
    .slice(1)
    .flatMap((part, index, parts) =>
      index % 2 === 0 ? [{ titles: part.trim().split('\n'), text: parts[index + 1] ?? '' }] : [],
    );
  const text = (name: string) =>
    sections.find(({ titles }) => titles.some((title) => title.startsWith(`${name} `)))?.text;
  let bundled: readonly string[] = [];

  beforeAll(async () => {
    const { metafile } = await build({
      entryPoints: [
        'src/pilot-agent/cli/main.ts',
        'src/pilot-agent/cli/load.ts',
        'src/pilot-agent/page/main.tsx',
      ],
      bundle: true,
      platform: 'node',
      outdir: 'dist',
      write: false,
      metafile: true,
      logLevel: 'error',
    });
    const files = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
    const names = files.flatMap(
      (file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [],
    );
    bundled = [...new Set(names)].sort();
  });

  it('names each package that is bundled, and no other', () => {
    const named = sections.flatMap(({ titles }) =>
      titles.map((title) => title.split(' ')[0] ?? ''),
    );
    expect(bundled).toEqual(
      expect.arrayContaining([
        'rxjs',
        'preact',
        '@grpc/grpc-js',
        '@peculiar/x509',
        'pino',
        '@bufbuild/protobuf',
      ]),
    );
    expect([...new Set(named)].sort()).toEqual(bundled);
  });

  it('has the text of each licence', () => {
    const isLicence =
      /Permission (?:is hereby granted|to use)|Apache License|Redistribution and use/;
    expect(
      sections.filter((section) => !isLicence.test(section.text)).map(({ titles }) => titles),
    ).toEqual([]);
  });

  it('has all texts of a package with two licences and no file for them', () => {
    expect(text('@bufbuild/protobuf')).toMatch(
      /Buf Technologies[^]*Google Inc[^]*Redistribution and use[^]*Apache License\n/,
    );
  });

  it('is in the package', () => {
    const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      encoding: 'utf8',
    });
    expect(listed).toContain('"dist/THIRD-PARTY-NOTICES.txt"');
  });
});
