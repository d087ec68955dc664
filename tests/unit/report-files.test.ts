import { describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { UPLOAD_LIMITS } from '../../src/domain/limit-table.ts';
import { InvalidUpload, UploadTooLarge } from '../../src/formats/errors.ts';
import { junit } from '../../src/formats/junit/format.ts';
import { BODY_LIMITS } from '../../src/ingest/body.ts';
import { reportFiles } from '../../src/ingest/reports/files.ts';

describe('the files of a request', () => {
  const form = async (files: [name: string, body: string | Uint8Array<ArrayBuffer>][]) => {
    const data = new FormData();
    for (const [name, body] of files) data.append('report', new File([body], name));
    const response = new Response(data);
    // Bun forgets the boundary once the body is read.
    const type = response.headers.get('content-type');
    return { body: await response.bytes(), type };
  };
  test('a plain body, compressed or not', async () => {
    for (const body of [Buffer.from('<a/>'), gzipSync('<a/>')])
      expect(await reportFiles(body, 'application/xml', BODY_LIMITS, junit)).toEqual([
        { name: null, body: Buffer.from('<a/>') },
      ]);
  });
  test('each file of a form, packed or not, by its name', async () => {
    const { body, type } = await form([
      ['a/junit.xml', '<a/>'],
      ['b.xml.gz', new Uint8Array(gzipSync('<b/>'))],
    ]);
    const files = await reportFiles(body, type, BODY_LIMITS, junit);
    expect(files.map((file) => [file.name, Buffer.from(file.body).toString()])).toEqual([
      ['a/junit.xml', '<a/>'],
      ['b.xml.gz', '<b/>'],
    ]);
  });
  test('two files of one name are refused: one would count as the other sent again', async () => {
    const { body, type } = await form([
      ['junit.xml', '<a/>'],
      ['junit.xml', '<b/>'],
    ]);
    await expect(reportFiles(body, type, BODY_LIMITS, junit)).rejects.toThrow(
      'Two files of the form are named junit.xml.',
    );
  });
  test.each([
    [
      'a form without files',
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n',
    ],
    ['a form cut short', 'multipart/form-data; boundary=x', '--x\r\ncontent-dis'],
    ['a form without a boundary', 'multipart/form-data', 'abc'],
    ['a form of a million parts', 'multipart/form-data; boundary=x', '--x\r\n\r\n'.repeat(1_000_000)],
    ['JSON', 'application/json', '{}'],
  ])('%s is refused', async (_, type, body) => {
    await expect(reportFiles(Buffer.from(body), type, BODY_LIMITS, junit)).rejects.toThrow(InvalidUpload);
  });
  test.each([
    'multipart/form-data; xboundary=y; boundary=x',
    'multipart/form-data; a="; boundary=y"; boundary="x"',
    'multipart/form-data; boundary=x; charset=utf-8',
    'Multipart/Form-Data;BOUNDARY=x',
  ])('the boundary of %s is the one that its parts are counted by', async (type) => {
    const file = '--x\r\ncontent-disposition: form-data; name="a"; filename="f"\r\n\r\n<a/>\r\n';
    expect(await reportFiles(Buffer.from(`${file}--x--\r\n`), type, BODY_LIMITS, junit)).toEqual([
      { name: 'f', body: new Uint8Array(Buffer.from('<a/>')) },
    ]);
    await expect(reportFiles(Buffer.from('--x\r\n\r\n'.repeat(1_002)), type, BODY_LIMITS, junit)).rejects.toThrow(
      UPLOAD_LIMITS.FORM_PARTS_MAX.sentence(),
    );
  });
  test.each(['boundary=x; boundary=y', 'boundary=', `boundary=${'x'.repeat(71)}`, 'boundary="x', 'boundary=x,{}'])(
    'a form with %s is refused',
    async (parameters) => {
      const type = `multipart/form-data; ${parameters}`;
      await expect(reportFiles(Buffer.from('--x--'), type, BODY_LIMITS, junit)).rejects.toThrow('names one boundary');
    },
  );
  test('packed files of a form are within the limit together', async () => {
    const packed = new Uint8Array(gzipSync(Buffer.alloc(600_000)));
    const { body, type } = await form([
      ['a', packed],
      ['b', packed],
    ]);
    await expect(reportFiles(body, type, { ...BODY_LIMITS, unpackedBytesMax: 1_000_000 }, junit)).rejects.toThrow(
      UploadTooLarge,
    );
  });
});
