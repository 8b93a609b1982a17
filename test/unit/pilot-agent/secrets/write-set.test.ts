import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SecretSet } from '../../../../src/pilot-agent/secrets/secret.ts';
import { writeSet } from '../../../../src/pilot-agent/secrets/write-set.ts';

let folder: string;
let output: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-agent-write-set-'));
  output = join(folder, 'a/b');
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (set: SecretSet) => lastValueFrom(writeSet(output, set), { defaultValue: undefined });
const numbered = (number: number): SecretSet => ({
  pair: { chain: `chain ${number}`, key: Buffer.from(`key ${number}`) },
  roots: `roots ${number}`,
});
const read = (name: string) => readFileSync(join(output, name), 'utf8');
const names = ['cert-chain.pem', 'key.pem', 'root-cert.pem'];
const entries = () => readdirSync(output).map((name) => name.replace(/^(\.\.set-).*/, '$1'));

describe('writeSet', () => {
  it('writes what a set has, for its owner alone, over what was there', async () => {
    expect(await write({ pair: { chain: 'c', key: Buffer.from('k') } })).toBeUndefined();
    expect(entries()).toEqual(['..data', '..set-', 'cert-chain.pem', 'key.pem']);
    expect(await write(numbered(1))).toBeUndefined();
    expect(await write(numbered(2))).toBeUndefined();
    expect(names.map(read)).toEqual(['chain 2', 'key 2', 'roots 2']);
    expect(entries()).toEqual(['..data', '..set-', ...names]);
    for (const path of [output, join(output, '..data/')])
      expect(statSync(path).mode & 0o777).toBe(0o700);
    for (const name of names) expect(statSync(join(output, name)).mode & 0o777).toBe(0o600);
  });

  it('leaves no name that leads nowhere when a set has less', async () => {
    await write(numbered(1));
    await write({ pair: { chain: 'c', key: Buffer.from('k') } });
    expect(entries()).toEqual(['..data', '..set-', 'cert-chain.pem', 'key.pem']);
  });

  it('replaces the plain files of another agent, and clears away what a killed one has left; other files stay', async () => {
    mkdirSync(join(output, '..set-old'), { recursive: true });
    writeFileSync(join(output, '..set-old', '..link'), '');
    for (const name of ['key.pem', 'cert-chain.pem', 'mine'])
      writeFileSync(join(output, name), 'plain');
    expect(await write(numbered(1))).toBeUndefined();
    expect(names.map(read)).toEqual(['chain 1', 'key 1', 'roots 1']);
    expect(lstatSync(join(output, 'key.pem')).isSymbolicLink()).toBe(true);
    expect(entries()).toEqual([
      '..data',
      '..set-',
      'cert-chain.pem',
      'key.pem',
      'mine',
      'root-cert.pem',
    ]);
    expect(read('mine')).toBe('plain');
  });

  it('follows no link that others have put there under any name that could be known', async () => {
    mkdirSync(output, { recursive: true });
    writeFileSync(join(folder, 'foreign'), 'theirs');
    for (const name of names) {
      symlinkSync(join(folder, 'foreign'), join(output, name));
      symlinkSync(join(folder, 'foreign'), join(output, `${name}.new`));
    }
    expect(await write(numbered(1))).toBeUndefined();
    expect(names.map(read)).toEqual(['chain 1', 'key 1', 'roots 1']);
    expect(readFileSync(join(folder, 'foreign'), 'utf8')).toBe('theirs');
  });

  it('shows a reader the files of one set, whenever it looks', async () => {
    await write(numbered(0));
    // The reader reads the link once: the folder that it leads to stays one set while it exists.
    const code = `const { readFileSync, readlinkSync } = require('node:fs');
      console.log('ready');
      for (let looks = 0; ; looks++) {
        const set = readlinkSync(${JSON.stringify(join(output, '..data'))});
        let texts;
        try { texts = ['cert-chain.pem', 'key.pem', 'root-cert.pem'].map((name) => readFileSync(${JSON.stringify(output)} + '/' + set + '/' + name, 'utf8').split(' ')[1]); } catch { continue; }
        if (new Set(texts).size > 1) console.log('mixed', texts);
      }`;
    const reader = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    let readerOutput = '';
    reader.stdout.setEncoding('utf8').on('data', (piece: string) => (readerOutput += piece));
    await expect.poll(() => readerOutput).toContain('ready');
    for (let number = 1; number <= 200; number++) await write(numbered(number));
    reader.kill('SIGKILL');
    await once(reader, 'exit');
    expect(readerOutput).toBe('ready\n');
    expect(readlinkSync(join(output, 'key.pem'))).toBe('..data/key.pem');
  });

  it('says why it can not, and leaves what was there', async () => {
    mkdirSync(join(output, '..data'), { recursive: true }); // no link can take its place
    writeFileSync(join(output, '..data/mine'), '');
    expect(await write(numbered(1))).toMatch(/EISDIR|EEXIST|ENOTEMPTY/);
    expect(readdirSync(output).filter((name) => name.startsWith('..set-'))).toEqual([]);
    expect(existsSync(join(output, '..data/mine'))).toBe(true);
    output = join(folder, 'file');
    writeFileSync(output, '');
    expect(await write(numbered(1))).toContain('file');
  });
});
