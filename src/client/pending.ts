/**
 * Reports that could not be sent, in a folder of the job: what the service was to be told, and the packed report. The
 * folder holds no key. A later job sends them with `push --pending`.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { ownerSchema, type RepositoryName, repositoryNameSchema } from '../domain/repository-path.ts';
import { FORMATS } from '../formats/formats.ts';
import type { Upload } from './upload.ts';
import { uploadQuerySchema } from './upload-query.ts';

export const PENDING_FOLDER = '.ci-insights/pending';

/**
 * A folder may come from a cache or an artifact that others can write: nothing in it is an address, only names that
 * become a part of one.
 */
const pendingSchema = z.object({
  v: z.literal(1),
  owner: ownerSchema,
  name: repositoryNameSchema,
  file: z.string(),
  address: z.enum(FORMATS.map(({ name }) => name)),
  query: uploadQuerySchema,
});

export interface PendingUpload {
  id: string;
  repository: RepositoryName;
  upload: Upload;
  gzipped: Uint8Array;
}

/** Keeps a report. The same report of the same job is kept once. Returns its id. */
export function keepPending(
  folder: string,
  { owner, name }: RepositoryName,
  upload: Upload,
  report: Uint8Array,
): string {
  mkdirSync(folder, { recursive: true });
  const { file, address, query } = upload;
  const about = JSON.stringify({ v: 1, owner, name, file, address, query }, null, 2);
  const id = createHash('sha256').update(about).update(report).digest('hex').slice(0, 32);
  writeFileSync(join(folder, `${id}.gz`), gzipSync(report));
  // The description appears last and whole: what it describes is there.
  writeFileSync(join(folder, `${id}.tmp`), about);
  renameSync(join(folder, `${id}.tmp`), join(folder, `${id}.json`));
  return id;
}

/** The reports of a folder, and the names of descriptions that cannot be read. A folder that is missing has none. */
export function listPending(folder: string): { uploads: PendingUpload[]; unreadable: string[] } {
  const uploads: PendingUpload[] = [];
  const unreadable: string[] = [];
  for (const file of filesOf(folder).filter((name) => name.endsWith('.json'))) {
    const id = file.slice(0, -'.json'.length);
    try {
      const about = pendingSchema.parse(JSON.parse(readFileSync(join(folder, file), 'utf8')));
      const format = FORMATS.find(({ name }) => name === about.address);
      if (!format) throw new Error(`${about.address} is not in the list of formats`);
      const { owner, name, query } = about;
      const upload = { file: about.file, address: format.name, contentType: format.mediaTypes[0], query };
      uploads.push({ id, repository: { owner, name }, upload, gzipped: readFileSync(join(folder, `${id}.gz`)) });
    } catch {
      unreadable.push(join(folder, file));
    }
  }
  return { uploads, unreadable };
}

export function dropPending(folder: string, id: string): void {
  for (const suffix of ['json', 'gz']) rmSync(join(folder, `${id}.${suffix}`), { force: true });
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
