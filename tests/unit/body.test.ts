import { describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { InvalidUpload, UploadTooLarge } from '../../src/formats/errors.ts';
import { BODY_LIMITS, type BodyLimits, isGzipRequest, readSentBody, unpackBody } from '../../src/ingest/body.ts';

const LIMITS = { sentBytesMax: 10_000, unpackedBytesMax: 100_000 };
const GZIP = { 'content-encoding': 'gzip' };

type Body = ConstructorParameters<typeof Response>[0];

const requestOf = (body: Body | null, headers: Record<string, string> = {}): Request =>
  new Request('http://ci.test/', { method: 'POST', headers, body });
const readBody = async (request: Request, limits: BodyLimits): Promise<Uint8Array> => {
  const isGzip = isGzipRequest(request);
  return unpackBody(await readSentBody(request, limits), isGzip, limits);
};
const read = async (body: Body | null, headers: Record<string, string> = {}): Promise<string> =>
  Buffer.from(await readBody(requestOf(body, headers), LIMITS)).toString();
const packed = (text: string | Uint8Array) => new Uint8Array(gzipSync(text));
const noise = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
/** A body without Content-Length. */
const chunked = (chunks: Uint8Array[]): ReadableStream =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });

describe('bodies are read', () => {
  test.each([
    ['as they are', 'abc', {}],
    ['as they are, said so', 'abc', { 'content-encoding': 'identity' }],
    ['packed', packed('abc'), GZIP],
    ['packed, by its old name', packed('abc'), { 'content-encoding': 'x-gzip' }],
    ['packed in two parts', Buffer.concat([packed('ab'), packed('c')]), GZIP],
  ])('%s', async (_, body, headers) => {
    expect(await read(body, headers as Record<string, string>)).toBe('abc');
  });
  test('empty', async () => {
    expect(await read(null)).toBe('');
  });
  test('in chunks, compressed or not', async () => {
    expect(await read(chunked([Buffer.from('ab'), Buffer.from('c')]))).toBe('abc');
    const body = packed('abc');
    expect(await read(chunked([body.subarray(0, 5), body.subarray(5)]), GZIP)).toBe('abc');
  });
});

describe('bodies that are not what their headers say are refused with a sentence', () => {
  test.each([
    ['not gzip', Buffer.from('hello, I am no gzip'), GZIP, 'is not gzip, or it is cut short'],
    ['nothing at all', null, GZIP, 'is not gzip, or it is cut short'],
    ['gzip cut short', packed(noise(5_000)).subarray(0, 2_000), GZIP, 'is not gzip, or it is cut short'],
    ['another encoding', Buffer.from('x'), { 'content-encoding': 'br' }, 'Content-Encoding br is not accepted'],
    ['two encodings', Buffer.from('x'), { 'content-encoding': 'gzip, gzip' }, 'is not accepted'],
  ])('%s', async (_, body, headers, sentence) => {
    const error = await read(body, headers as Record<string, string>).then(String, (thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidUpload);
    expect(String(error)).toContain(sentence);
  });
});

describe('bodies over a limit are refused, whatever their Content-Length says', () => {
  test.each([
    ['as sent', noise(10_001), {}],
    ['as sent, in chunks', chunked([noise(6_000), noise(6_000)]), {}],
    ['as sent, packed', packed(noise(10_001)), GZIP],
    ['as sent, packed, in chunks', chunked([packed(noise(6_000)), packed(noise(6_000))]), GZIP],
    ['unpacked', packed('x'.repeat(100_001)), GZIP],
    ['unpacked, in many parts', Buffer.concat(Array.from({ length: 100 }, () => packed('x'.repeat(2_000)))), GZIP],
  ])('%s', async (_, body, headers) => {
    await expect(read(body, headers as Record<string, string>)).rejects.toThrow(UploadTooLarge);
  });
  test('a zip bomb is stopped at the limit: a gigabyte of it does not take a gigabyte of memory', async () => {
    const bomb = packed(new Uint8Array(64 << 20));
    const body = chunked(Array.from({ length: 16 }, () => bomb));
    const before = process.memoryUsage.rss();
    await expect(readBody(requestOf(body, GZIP), { ...BODY_LIMITS, unpackedBytesMax: 1 << 20 })).rejects.toThrow(
      'larger than 1 MiB after decompression',
    );
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 << 20);
  });
});
