import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { privateKeyPem } from '../../../../src/shared/certificates/private-key-pem.ts';

const keys = {
  'EC P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  'EC P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
  'EC P-521': generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey,
  'RSA 1024': generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey,
  'RSA 2048': generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
};

describe('privateKeyPem', () => {
  it.each(Object.entries(keys))('is what Node itself writes for %s, in bytes', (name, key) => {
    for (const type of ['pkcs8', name.startsWith('EC') ? 'sec1' : 'pkcs1'] as const) {
      expect(privateKeyPem(key, type).toString()).toBe(key.export({ format: 'pem', type }));
    }
  });
});
