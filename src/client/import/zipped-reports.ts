/** The reports in a zip on the disk, found by their content. One file of it at a time is in memory. */
import type { Entry, ZipFile } from 'yauzl';
import { groupedBy } from '../../domain/grouped-by.ts';
import type { ReportFormat } from '../../formats/format.ts';
import { FORMATS } from '../../formats/formats.ts';

/** A report that is larger unpacked is left out: the service would refuse it. */
const REPORT_BYTES_MAX = 512 * 1024 * 1024;
const ENTRIES_MAX = 500_000;

/** Never a report, however many of them are in an artifact: they are not unpacked. */
const NO_REPORT =
  /\.(?:png|jpe?g|gif|webp|svg|ico|webm|mp4|avi|mov|pdf|zip|gz|tgz|bz2|xz|zst|7z|jar|war|whl|exe|dll|so|dylib|a|o|bin|dat|db|sqlite|wasm|woff2?|ttf|otf|eot|css|m?jsx?|c?ts|tsx|map|html?|md|rst|py|rb|go|rs|java|class|kt|cs|cpp|hpp|[ch]|sh|ps1|ya?ml|toml|ini|lock|sum|info|lcov|gcda|gcno|prof|pprof|core|dmp|har|snap|diff|patch|csv|tsv|parquet)$/i;

interface ZippedReport {
  /** The path in the zip; of a report of several files, their folder. */
  path: string;
  format: ReportFormat;
  body: Uint8Array;
}

export type Found = { report: ZippedReport } | { path: string; leftOut: string };

/** Throws an Error if the zip cannot be read. */
export async function* reportsInZip(file: string): AsyncGenerator<Found> {
  const { openPromise } = await import('yauzl');
  const zip = await openPromise(file, { autoClose: false });
  try {
    if (zip.entryCount > ENTRIES_MAX) throw new Error(`it holds more than ${ENTRIES_MAX} files`);
    const entries: Entry[] = [];
    for await (const entry of zip.eachEntry())
      if (!entry.fileName.endsWith('/') && !NO_REPORT.test(entry.fileName)) entries.push(entry);
    yield* await foundIn(zip, entries);
  } finally {
    zip.close();
  }
}

async function foundIn(zip: ZipFile, entries: readonly Entry[]): Promise<AsyncGenerator<Found>> {
  const leftOut: Found[] = [];
  const parts = groupedBy(entries, ({ fileName }) => FORMATS.find(({ folder }) => folder?.isPart(nameOf(fileName))));
  const single = parts.get(undefined) ?? [];
  parts.delete(undefined);
  const byFormat = new Map<ReportFormat, Entry[]>();
  const { formatOf } = await import('../../formats/recognise.ts');
  for (const entry of single) {
    if (entry.uncompressedSize > REPORT_BYTES_MAX) {
      leftOut.push({ path: entry.fileName, leftOut: `it is larger than ${REPORT_BYTES_MAX} bytes` });
      continue;
    }
    const format = await formatOf(await bytesOf(zip, entry));
    if (!format) continue;
    const own = byFormat.get(format);
    if (own) own.push(entry);
    else byFormat.set(format, [entry]);
  }
  return reportsOf(zip, { parts, byFormat, leftOut });
}

interface Sorted {
  /** Files that are one report with the others of their folder. */
  parts: ReadonlyMap<ReportFormat | undefined, readonly Entry[]>;
  byFormat: ReadonlyMap<ReportFormat, readonly Entry[]>;
  leftOut: readonly Found[];
}

/** Of one format only: tools write the same results in several, and each test would count twice. */
async function* reportsOf(zip: ZipFile, { parts, byFormat, leftOut }: Sorted): AsyncGenerator<Found> {
  yield* leftOut;
  const chosen = FORMATS.filter((format) => byFormat.has(format)).sort(
    (one, other) => (byFormat.get(other)?.length ?? 0) - (byFormat.get(one)?.length ?? 0),
  )[0];
  for (const [format, entries] of byFormat)
    for (const entry of entries)
      if (format === chosen) yield { report: { path: entry.fileName, format, body: await bytesOf(zip, entry) } };
      else
        yield {
          path: entry.fileName,
          leftOut: `the artifact has other reports (${chosen?.title}), which may say the same`,
        };
  if (chosen) return;
  for (const [format, entries] of parts)
    for (const [folder, own] of groupedBy(entries, ({ fileName }) => folderOf(fileName)))
      if (format?.folder) yield await packed(zip, format, folder, own);
}

async function packed(zip: ZipFile, format: ReportFormat, folder: string, entries: readonly Entry[]): Promise<Found> {
  const files: { name: string; bytes: Uint8Array }[] = [];
  const size = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
  if (size > REPORT_BYTES_MAX) return { path: folder, leftOut: `it is larger than ${REPORT_BYTES_MAX} bytes` };
  for (const entry of entries) files.push({ name: nameOf(entry.fileName), bytes: await bytesOf(zip, entry) });
  return { report: { path: folder, format, body: format.folder?.packed(files) ?? new Uint8Array() } };
}

async function bytesOf(zip: ZipFile, entry: Entry): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of await zip.openReadStreamPromise(entry)) {
    size += part.length;
    // The zip may say less than there is.
    if (size > REPORT_BYTES_MAX) break;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1) || '.';
