/**
 * Launches and items of ReportPortal, as its API answers (`GET /v1/{project}/launch`, `GET /v1/{project}/item`): pages, lists or
 * single ones, in any files. Each launch is a report. https://developers.reportportal.io/api-docs/service-api/
 */
import { z } from 'zod';
import { ctrfOf, type WrittenTest } from '../written-report.ts';
import { type Exported, type ExportTool, lastOf, momentSchema, subjectAmong, type Told } from './export.ts';
import { type ExportFile, jsonIn } from './files.ts';

const text = z.string().nullish().catch(null);
const id = z.union([z.string(), z.number().transform(String)]);

const launchSchema = z.object({
  id,
  uuid: text,
  name: z.string(),
  number: z.number(),
  startTime: momentSchema,
  endTime: momentSchema,
  attributes: z
    .array(z.object({ key: text, value: text }))
    .nullish()
    .catch(null),
});
type Launch = z.infer<typeof launchSchema>;

const attemptSchema = z.object({ status: text, startTime: momentSchema, endTime: momentSchema });
const itemSchema = attemptSchema.extend({
  launchId: id,
  name: z.string(),
  type: z.string(),
  hasChildren: z.boolean().nullish().catch(null),
  hasStats: z.boolean().nullish().catch(null),
  pathNames: z
    .object({
      launchPathName: z.object({ name: z.string(), number: z.number() }).nullish().catch(null),
      itemPaths: z
        .array(z.object({ name: z.string() }))
        .nullish()
        .catch(null),
    })
    .nullish()
    .catch(null),
  issue: z.object({ comment: text }).nullish().catch(null),
  retries: z.array(attemptSchema).nullish().catch(null),
});
type Item = z.infer<typeof itemSchema>;

/** A launch, as far as it is known before its items are read again. */
interface Found {
  launch: Launch | undefined;
  name: string | undefined;
  files: Set<ExportFile>;
  endedAt: number | undefined;
}

export const reportportal: ExportTool = {
  name: 'reportportal',
  title: 'ReportPortal',
  description: 'import launches and their items as the API of ReportPortal answers, a report for each launch',
  async *reports(files) {
    const byLaunch = new Map<string, Found>();
    for (const file of files.filter(({ path }) => path.endsWith('.json'))) {
      const values = await valuesIn(file).catch(() => undefined);
      if (values) note(byLaunch, file, values);
      else yield { path: file.path, leftOut: 'it is not JSON' };
    }
    for (const [launchId, found] of byLaunch) yield exportedOf(launchId, found);
  },
};

/** The values of a file: those of a page, of a list, or the only one. */
async function valuesIn(file: ExportFile): Promise<readonly unknown[]> {
  const value = await jsonIn(file);
  if (Array.isArray(value)) return value;
  const page = z.object({ content: z.array(z.unknown()) }).safeParse(value);
  return page.success ? page.data.content : [value];
}

function note(byLaunch: Map<string, Found>, file: ExportFile, values: readonly unknown[]): void {
  const foundOf = (launchId: string): Found => {
    const found = byLaunch.get(launchId) ?? {
      launch: undefined,
      name: undefined,
      files: new Set(),
      endedAt: undefined,
    };
    byLaunch.set(launchId, found);
    return found;
  };
  for (const value of values) {
    const item = itemSchema.safeParse(value).data;
    const launch = item ? undefined : launchSchema.safeParse(value).data;
    if (launch) foundOf(launch.id).launch = launch;
    if (!item) continue;
    const found = foundOf(item.launchId);
    found.files.add(file);
    found.name ??= item.pathNames?.launchPathName?.name;
    found.endedAt = lastOf([found.endedAt, item.endTime]);
  }
}

function exportedOf(launchId: string, { launch, name, files, endedAt }: Found): Exported {
  const path = `launch ${launchId}`;
  if (files.size === 0) return { path, leftOut: 'its items are not in the export' };
  const told: Told = {
    pipeline: 'ReportPortal',
    job: launch?.name || name || 'tests',
    runId: launch?.uuid || launchId,
    ...subjectAmong((launch?.attributes ?? []).map(({ key, value }) => [key ?? '', value ?? ''] as const)),
    endedAt: launch?.endTime ?? endedAt,
    url: undefined,
  };
  return { path, format: 'ctrf', told, read: () => reportOf(launchId, [...files]) };
}

async function reportOf(launchId: string, files: readonly ExportFile[]): Promise<Uint8Array> {
  const tests: WrittenTest[] = [];
  for (const file of files)
    for (const value of await valuesIn(file)) {
      const item = itemSchema.safeParse(value).data;
      if (item?.launchId === launchId && isTest(item)) tests.push(testOf(item));
    }
  return Buffer.from(ctrfOf('reportportal', tests));
}

/** Suites have children, steps within tests have no statistics, and what runs before and after tests is none. */
const isTest = ({ hasChildren, hasStats, type }: Item): boolean =>
  hasChildren !== true && hasStats !== false && !/^(?:before|after)_|^(?:suite|story)$/i.test(type);

function testOf(item: Item): WrittenTest {
  const { name, status, startTime: start, endTime: stop, pathNames, issue, retries } = item;
  return {
    name,
    status: status ?? '',
    duration: start && stop ? Math.max(0, stop - start) : 0,
    ...(start && { start }),
    ...(stop && { stop }),
    suite: pathNames?.itemPaths?.map((parent) => parent.name) ?? [],
    ...(issue?.comment && { message: issue.comment }),
    retryAttempts: (retries ?? []).map((attempt) => ({ status: attempt.status ?? '' })),
  };
}
