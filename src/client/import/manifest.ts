/**
 * The manifest of a folder of reports: JSON lines, one for each report or pull request (docs/import.md). It is read twice, so
 * that a mistake in its last line is told before anything is sent, and the reports are sent in the order of their times
 * with only their places in memory.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { AXES_MAX, axesRejection, axesSchema } from '../../domain/axes.ts';
import { NAME_LENGTH_MAX, PULL_REQUEST_TITLE_LENGTH_MAX, UINT32_MAX } from '../../domain/limits.ts';
import { UserError } from '../../errors.ts';
import { FORMATS } from '../../formats/formats.ts';
import { pairsOf, type UploadQuery } from '../upload-query.ts';
import type { ImportItem, ImportSource } from './item.ts';
import { readBounded } from './read-bounded.ts';

/** Places in memory take 24 bytes each. */
const LINES_MAX = 5_000_000;
const LINE_BYTES_MAX = 64 * 1024;

const name = z.string().min(1).max(NAME_LENGTH_MAX);
const whole = z.int().min(1).max(UINT32_MAX);
const moment = z.iso.datetime({ offset: true });
const axes = axesSchema.superRefine((value, context) => {
  const reason = axesRejection(value);
  if (reason !== null) context.addIssue({ code: 'custom', message: `${reason} (at most ${AXES_MAX})` });
});

/** The fields are those of an upload (docs/api.md). Others are a mistake: one would be lost without a word. */
const reportSchema = z.strictObject({
  file: z.string().min(1),
  format: z.enum(FORMATS.map((format) => format.name)).optional(),
  report: z.string().min(1).optional(),
  pipeline_name: name,
  job_name: name,
  run_id: name,
  run_attempt: whole.optional(),
  axes: axes.optional(),
  place: axes.optional(),
  commit: name.optional(),
  branch: name.optional(),
  pull_request: whole.optional(),
  base_ref: name.optional(),
  default_branch: name.optional(),
  job_url: z.url().optional(),
  started_at: moment.optional(),
  arrived_at: moment,
});

const pullRequestSchema = z.strictObject({
  pull_request: z.strictObject({
    number: whole,
    id: z.int().min(0),
    title: z.string().max(PULL_REQUEST_TITLE_LENGTH_MAX),
    author: z
      .strictObject({ id: z.int().min(0), login: name })
      .nullable()
      .default(null),
    base_ref: name.nullable().default(null),
    head_ref: name.nullable().default(null),
    head_commit: name.nullable().default(null),
    merge_commit: name.nullable().default(null),
    updated_at: moment,
    merged_at: moment.optional(),
    merged_by: name.optional(),
  }),
});

type ManifestReport = z.infer<typeof reportSchema>;
type ManifestLine = ManifestReport | z.infer<typeof pullRequestSchema>;

interface Place {
  /** Milliseconds since the epoch; pull requests come first. */
  at: number;
  offset: number;
  length: number;
}

/** Throws a {@link UserError} that names the first line that is wrong. */
export async function openManifest(folder: string, manifest: string): Promise<ImportSource> {
  const places = await placesOf(manifest);
  const reports = places.filter(({ at }) => at > Number.NEGATIVE_INFINITY).length;
  return {
    name: `folder ${resolve(folder)} by ${resolve(manifest)}`,
    expected: reports,
    async *items(isDone) {
      const file = await open(manifest);
      try {
        for (const place of places) {
          const text = await textAt(file, place);
          const item = itemOf(parseLine(text), text, folder);
          if (!isDone(item.key)) yield item;
        }
      } finally {
        await file.close();
      }
    },
  };
}

async function placesOf(manifest: string): Promise<Place[]> {
  const places: Place[] = [];
  let [offset, number] = [0, 0];
  for await (const line of linesOf(manifest)) {
    number++;
    const length = Buffer.byteLength(line);
    if (number > LINES_MAX) throw new UserError(`${manifest} has more than ${LINES_MAX} lines: split it.`);
    if (line.trim() !== '') places.push({ at: timeOf(checked(line, length, `${manifest}:${number}`)), offset, length });
    offset += length + 1;
  }
  if (places.length === 0) throw new UserError(`${manifest} is empty: it has a line of JSON for each report.`);
  return places.sort((one, other) => one.at - other.at);
}

/** A line keeps its carriage return: offsets count every byte. */
async function* linesOf(manifest: string): AsyncGenerator<string> {
  let rest = '';
  try {
    for await (const part of createReadStream(manifest, 'utf8')) {
      const lines = (rest + part).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (cause) {
    throw new UserError(`${manifest} cannot be read.`, { cause });
  }
  if (rest !== '') yield rest;
}

function checked(line: string, length: number, where: string): ManifestLine {
  if (length > LINE_BYTES_MAX) throw new UserError(`${where} is longer than ${LINE_BYTES_MAX} bytes.`);
  try {
    return parseLine(line);
  } catch (error) {
    if (error instanceof z.ZodError) throw new UserError(`${where}: ${z.prettifyError(error).replaceAll('\n', ' ')}`);
    throw new UserError(`${where} is no JSON: a manifest has one object in each line.`, { cause: error });
  }
}

/** Throws a SyntaxError or a ZodError. */
function parseLine(line: string): ManifestLine {
  const value: unknown = JSON.parse(line);
  const isReport = typeof value === 'object' && value !== null && 'file' in value;
  return isReport ? reportSchema.parse(value) : pullRequestSchema.parse(value);
}

const timeOf = (line: ManifestLine): number =>
  'file' in line ? Date.parse(line.arrived_at) : Number.NEGATIVE_INFINITY;

async function textAt(file: FileHandle, { offset, length }: Place): Promise<string> {
  const bytes = Buffer.alloc(length);
  await file.read(bytes, 0, length, offset);
  return bytes.toString('utf8');
}

function itemOf(line: ManifestLine, text: string, folder: string): ImportItem {
  const key = createHash('sha256').update(text.trim()).digest('base64url');
  if (!('file' in line)) return { kind: 'pull_request', key, pullRequest: line.pull_request };
  const path = resolve(folder, line.file);
  const { format } = line;
  return {
    kind: 'report',
    key,
    name: line.file,
    format,
    query: queryOf(line),
    arrivedAt: Date.parse(line.arrived_at),
    read: () => readBounded(path, format),
  };
}

/** The same parameters as those of a push. */
function queryOf({ file, format: _, axes: legAxes, place, arrived_at: __, ...line }: ManifestReport): UploadQuery {
  const query: Record<string, string | readonly string[]> = { report: file };
  for (const [parameter, value] of Object.entries(line)) if (value !== undefined) query[parameter] = String(value);
  for (const [parameter, pairs] of Object.entries({ axis: pairsOf(legAxes ?? {}), place: pairsOf(place ?? {}) }))
    if (pairs !== undefined) query[parameter] = pairs;
  return query;
}
