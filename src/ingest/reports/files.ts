/** The reports in a request: the body itself, or the files of a multipart form. Each may be compressed with gzip. */
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import { FORM_PARTS_MAX } from '../../domain/limits.ts';
import { InvalidUpload, UploadTooLarge } from '../../formats/errors.ts';
import type { ReportFormat } from '../../formats/format.ts';
import { type BodyLimits, gunzip } from '../body.ts';

export interface ReportFile {
  /** The sender's name of the file; null for a report that is the body itself. */
  name: string | null;
  body: Uint8Array;
}

/** Sent by clients that do not set a type; `x-www-form-urlencoded` is curl's default. */
const GENERIC_MEDIA_TYPES: ReadonlySet<string> = new Set([
  '',
  'text/plain',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'application/x-gzip',
  'application/gzip',
]);

/** Throws UploadTooLarge, and InvalidUpload, also for the media type of another format. */
export async function reportFiles(
  body: Uint8Array,
  contentType: string | null,
  limits: BodyLimits,
  format: ReportFormat,
): Promise<ReportFile[]> {
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType === 'multipart/form-data') return formFiles(body, contentType ?? '', limits, format);
  if (!isOf(format, mediaType))
    throw new InvalidUpload(
      `Content-Type ${mediaType.slice(0, 100)} is not accepted: send ${format.mediaTypes[0]}, or multipart/form-data with files.`,
    );
  return [{ name: null, body: await unpacked(body, limits) }];
}

/** `application/vnd.acme+xml` is XML too. */
const isOf = ({ mediaTypes }: ReportFormat, mediaType: string): boolean =>
  GENERIC_MEDIA_TYPES.has(mediaType) || mediaTypes.includes(mediaType.replace(/\/[\w.-]+\+/, '/'));

async function formFiles(
  body: Uint8Array,
  contentType: string,
  limits: BodyLimits,
  format: ReportFormat,
): Promise<ReportFile[]> {
  const boundary = boundaryOf(contentType);
  assertFewParts(body, boundary);
  const files: ReportFile[] = [];
  let left = limits.unpackedBytesMax;
  for (const file of await filesOf(body, boundary)) {
    const packed = new Uint8Array(await file.arrayBuffer());
    const unpackedBody = await unpacked(packed, { ...limits, unpackedBytesMax: left });
    left -= unpackedBody.length;
    if (left < 0)
      throw new UploadTooLarge('The files of the form are too large together. Send them in several requests.');
    files.push({ name: file.name || null, body: unpackedBody });
  }
  if (files.length === 0)
    throw new InvalidUpload(
      `The form holds no file. Send each report as a file, such as curl -F report=@${format.example.file}.`,
    );
  assertDistinct(files, format);
  return files;
}

/** A parameter of a media type: its name, and its value as a token or quoted. */
const PARAMETER = /;[ \t]*([\w!#$%&'*+.^`|~-]+)=(?:"([^"\\]*)"|([^\s";]+))/g;
const BOUNDARY_LENGTH_MAX = 70;

/** The boundary of a form, as RFC 2046 has it: the one parameter of this name. */
function boundaryOf(contentType: string): string {
  const named = [...contentType.matchAll(PARAMETER)].filter(([, name = '']) => name.toLowerCase() === 'boundary');
  const [only] = named;
  const boundary = only?.[2] ?? only?.[3] ?? '';
  if (
    named.length !== 1 ||
    !/^[\w'()+,./:=? -]+$/.test(boundary) ||
    boundary.length > BOUNDARY_LENGTH_MAX ||
    boundary.endsWith(' ')
  )
    throw new InvalidUpload(
      `The Content-Type of a form names one boundary, of at most ${BOUNDARY_LENGTH_MAX} characters: multipart/form-data; boundary=…`,
    );
  return boundary;
}

/** Its parts are counted by the boundary, so it is taken apart by the same, whatever else the header says. */
async function filesOf(body: Uint8Array, boundary: string): Promise<File[]> {
  try {
    const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
    const form = await new Response(Buffer.from(body), { headers }).formData();
    return [...form.values()].filter((value) => value instanceof File);
  } catch (error) {
    throw new InvalidUpload('The body says it is multipart/form-data but cannot be taken apart: is it cut short?', {
      cause: error,
    });
  }
}

/** A part takes a few bytes on the wire, and gzip makes next to nothing of them, but each is an object in memory. */
function assertFewParts(body: Uint8Array, boundary: string): void {
  const mark = Buffer.from(`--${boundary}`);
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  let parts = 0;
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length))
    if (++parts > FORM_PARTS_MAX + 1) throw new InvalidUpload(UPLOAD_LIMITS.FORM_PARTS_MAX.sentence());
}

/** Names tell the reports of a run apart: of two with the same name, one would count as the other sent again. */
function assertDistinct(files: readonly ReportFile[], { example }: ReportFormat): void {
  const names = new Set<string>();
  for (const { name } of files) {
    if (name === null) continue;
    if (names.has(name))
      throw new InvalidUpload(
        `Two files of the form are named ${name.slice(0, 200)}. Give each its own name, such as its path: curl -F 'report=@a/${example.file};filename=a/${example.file}'.`,
      );
    names.add(name);
  }
}

/** No report begins with the bytes of gzip, so a compressed file needs no header. */
const unpacked = (body: Uint8Array, limits: BodyLimits): Promise<Uint8Array> | Uint8Array =>
  body[0] === 0x1f && body[1] === 0x8b ? gunzip([body], limits) : body;
