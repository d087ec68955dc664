/** Reports in the Common Test Report Format, with what their `environment` says of the run. https://ctrf.io */
import { z } from 'zod';
import { type Exported, type ExportTool, lastOf, momentSchema, withoutNumber, withoutPrefix } from './export.ts';
import { type ExportFile, jsonIn } from './files.ts';

const text = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .catch(null);

const reportSchema = z.object({
  runId: text,
  reportId: text,
  timestamp: momentSchema,
  results: z.object({
    tool: z.object({ name: text }).nullish().catch(null),
    summary: z.object({ stop: momentSchema }).nullish().catch(null),
    tests: z.array(z.object({ stop: momentSchema })),
    environment: z
      .object({
        buildId: text,
        buildName: text,
        buildNumber: text,
        buildUrl: text,
        commit: text,
        branchName: text,
      })
      .nullish()
      .catch(null),
  }),
});

export const ctrf: ExportTool = {
  name: 'ctrf',
  title: 'CTRF',
  description: 'import reports in the Common Test Report Format (CTRF), with the builds that they name',
  async *reports(files) {
    for (const file of files) if (file.path.endsWith('.json')) yield await reportIn(file);
  },
};

async function reportIn(file: ExportFile): Promise<Exported> {
  const { path } = file;
  const parsed = reportSchema.safeParse(await jsonIn(file).catch(() => undefined));
  if (!parsed.success) return { path, leftOut: 'it is not a CTRF report' };
  const { results, runId, reportId, timestamp } = parsed.data;
  const build = results.environment;
  return {
    path,
    format: 'ctrf',
    told: {
      pipeline: withoutNumber(build?.buildName, build?.buildNumber) ?? 'CTRF',
      job: results.tool?.name || 'tests',
      runId: build?.buildId || build?.buildNumber || runId || reportId || path,
      commit: build?.commit || undefined,
      branch: withoutPrefix(build?.branchName),
      endedAt: lastOf(results.tests.map(({ stop }) => stop)) ?? results.summary?.stop ?? timestamp,
      url: build?.buildUrl || undefined,
    },
    read: () => file.read(),
  };
}
