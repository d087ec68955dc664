/** The reports in a request: the body itself, or the files of a multipart form; each may be gzip. */
import { type BodyLimits, gunzip } from '../body.ts';
import { InvalidUpload, UploadTooLarge } from '../errors.ts';

export interface ReportFile {
  /** As the sender names it; null for a body of its own. */
  name: string | null;
  body: Uint8Array;
}

/** Parts of one form: far more than a job has reports, few enough to be taken apart. */
const PARTS_MAX = 1_000;

/** Besides XML what senders say who do not care; curl says the second last unless told otherwise. */
const REPORT_MEDIA_TYPES =
  /^(?:(?:application|text)\/(?:[\w.-]+\+)?xml|text\/plain|application\/(?:octet-stream|x-www-form-urlencoded|x-gzip|gzip))?$/;

/** Throws InvalidUpload, also for a media type that is no report's, and UploadTooLarge. */
export async function reportFiles(
  body: Uint8Array,
  contentType: string | null,
  limits: BodyLimits,
): Promise<ReportFile[]> {
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType === 'multipart/form-data') return formFiles(body, contentType ?? '', limits);
  if (!REPORT_MEDIA_TYPES.test(mediaType))
    throw new InvalidUpload(
      `Content-Type ${mediaType.slice(0, 100)} is not understood: send application/xml, or multipart/form-data with files.`,
    );
  return [{ name: null, body: await unpacked(body, limits) }];
}

async function formFiles(body: Uint8Array, contentType: string, limits: BodyLimits): Promise<ReportFile[]> {
  assertFewParts(body, contentType);
  const files: ReportFile[] = [];
  let left = limits.unpackedBytesMax;
  for (const file of await filesOf(body, contentType)) {
    const packed = new Uint8Array(await file.arrayBuffer());
    const unpackedBody = await unpacked(packed, { ...limits, unpackedBytesMax: left });
    left -= unpackedBody.length;
    if (left < 0)
      throw new UploadTooLarge('The files of the form are too large together. Send them in several requests.');
    files.push({ name: file.name || null, body: unpackedBody });
  }
  if (files.length === 0)
    throw new InvalidUpload('The form holds no file. Send each report as a file, such as curl -F report=@junit.xml.');
  assertDistinct(files);
  return files;
}

async function filesOf(body: Uint8Array, contentType: string): Promise<File[]> {
  try {
    const form = await new Response(Buffer.from(body), { headers: { 'content-type': contentType } }).formData();
    return [...form.values()].filter((value) => value instanceof File);
  } catch (error) {
    throw new InvalidUpload('The body says it is multipart/form-data but cannot be taken apart: is it cut short?', {
      cause: error,
    });
  }
}

/** A part takes a few bytes on the wire, and gzip makes next to nothing of them, but an object in memory. */
function assertFewParts(body: Uint8Array, contentType: string): void {
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  const mark = Buffer.from(`--${boundary?.[1] ?? boundary?.[2] ?? ''}`);
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  let parts = 0;
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length))
    if (++parts > PARTS_MAX + 1) throw new InvalidUpload(`The form holds more than ${PARTS_MAX} parts.`);
}

/** Names tell the reports of a run apart: with two alike, one would count as the other sent again. */
function assertDistinct(files: readonly ReportFile[]): void {
  const names = new Set<string>();
  for (const { name } of files) {
    if (name === null) continue;
    if (names.has(name))
      throw new InvalidUpload(
        `Two files of the form are named ${name.slice(0, 200)}. Give each a name of its own, such as its path: curl -F 'report=@a/junit.xml;filename=a/junit.xml'.`,
      );
    names.add(name);
  }
}

/** A report never begins like gzip, so a packed file needs no header to say so. */
const unpacked = (body: Uint8Array, limits: BodyLimits): Promise<Uint8Array> | Uint8Array =>
  body[0] === 0x1f && body[1] === 0x8b ? gunzip([body], limits) : body;
