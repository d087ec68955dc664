/** Signatures of deliveries, compared with Node's HMAC of the bytes. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readConfig } from '../../src/config.ts';
import { signatureCheck } from '../../src/hosts/webhooks/signature.ts';
import { signatureOf } from '../support/webhooks.ts';

const SECRET = 'first of two secrets';
const isSigned = signatureCheck([SECRET]);
const utf8 = (text: string) => new TextEncoder().encode(text);

describe('a signature', () => {
  test('is valid for every text that was signed with the secret, and for no other text, secret or signature', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ minLength: 1 }),
        async (text, other, garbage) => {
          const signature = signatureOf(utf8(text), SECRET);
          expect(await isSigned(utf8(text), signature)).toBe(true);
          expect(await isSigned(utf8(text), garbage)).toBe(false);
          expect(await isSigned(utf8(other), signature)).toBe(other === text);
          expect(await isSigned(utf8(text), signatureOf(utf8(text), `${SECRET}.`))).toBe(false);
        },
      ),
    );
  });

  test.each([
    ['none', null],
    ['an empty one', ''],
    ['the digest alone', signatureOf('{}', SECRET).slice('sha256='.length)],
    ['SHA-1', 'sha1=2aae6c35c94fcfb415dbe95f408b9ce91ee846ed'],
    ['one that is cut short', signatureOf('{}', SECRET).slice(0, -1)],
    ['one that is too long', `${signatureOf('{}', SECRET)}0`],
    ['one in upper case', signatureOf('{}', SECRET).toUpperCase()],
    ['text that is not ASCII', 'sha256=ÿÿ'],
  ])('%s is wrong', async (_, signature) => {
    expect(await isSigned(utf8('{}'), signature)).toBe(false);
  });

  test('is valid with a byte order mark only if the mark was signed', async () => {
    const marked = utf8('\uFEFF{}');
    expect(await isSigned(marked, signatureOf(marked, SECRET))).toBe(true);
    expect(await isSigned(marked, signatureOf('{}', SECRET))).toBe(false);
  });

  test('is never valid for bytes that are not UTF-8, or for an empty body', async () => {
    const bytes = Uint8Array.of(0x22, 0xff, 0xfe, 0x22);
    expect(await isSigned(bytes, signatureOf(bytes, SECRET))).toBe(false);
    // A lenient decoder would turn them into another body.
    expect(await isSigned(bytes, signatureOf('"\uFFFD\uFFFD"', SECRET))).toBe(false);
    expect(await isSigned(new Uint8Array(), signatureOf('', SECRET))).toBe(false);
  });

  test('is valid with either of two secrets', async () => {
    const either = signatureCheck([SECRET, 'second of two secrets']);
    for (const secret of [SECRET, 'second of two secrets'])
      expect(await either(utf8('{}'), signatureOf('{}', secret))).toBe(true);
    expect(await either(utf8('{}'), signatureOf('{}', 'another'))).toBe(false);
  });
});

describe('HOST_WEBHOOK_SECRETS', () => {
  const secretsOf = (value: string) => readConfig({ HOST_WEBHOOK_SECRETS: value }).hosts[0]?.secrets;

  test('is one secret of a host, or two during a rotation, or not set', () => {
    expect(secretsOf('github=0123456789abcdef')).toEqual(['0123456789abcdef']);
    expect(secretsOf('github=0123456789abcdef, github=fedcba9876543210')).toEqual([
      '0123456789abcdef',
      'fedcba9876543210',
    ]);
    expect(secretsOf('')).toEqual([]);
  });

  test.each(['github=short', 'github=0123456789abcdef,', '0123456789abcdef', ','])(
    '%j is refused, and not shown',
    (value) => {
      const refusal = () => secretsOf(value);
      expect(refusal).toThrow('HOST_WEBHOOK_SECRETS must look like');
      expect(refusal).not.toThrow('0123456789abcdef');
    },
  );
});
