/**
 * Results of Buildkite Test Engine: what collectors upload (a list of results, or one with its `run_env`), and runs as the API
 * lists them. A list without its `run_env` belongs to the run whose id is in its path.
 * https://buildkite.com/docs/test-engine/importing-json
 */
import { z } from 'zod';
import { ctrfOf, type WrittenTest } from '../written-report.ts';
import { type Exported, type ExportTool, lastOf, momentSchema, type Told, withoutPrefix } from './export.ts';
import { type ExportFile, jsonIn } from './files.ts';

const text = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .catch(null);

const resultSchema = z.object({
  scope: text,
  name: z.string(),
  file_name: text,
  result: text,
  failure_reason: text,
  failure_expanded: z
    .array(z.object({ expanded: z.array(z.string()).catch([]), backtrace: z.array(z.string()).catch([]) }))
    .nullish()
    .catch(null),
  /** Seconds, of a clock that begins anywhere. */
  history: z
    .object({ start_at: z.number().nullish(), end_at: z.number().nullish(), duration: z.number().nullish() })
    .nullish()
    .catch(null),
});
type Result = z.infer<typeof resultSchema>;

const runEnvSchema = z.object({
  key: text,
  number: text,
  branch: text,
  commit_sha: text,
  url: text,
});
type RunEnv = z.infer<typeof runEnvSchema>;

const uploadSchema = z.object({ data: z.array(resultSchema), run_env: runEnvSchema });
const runSchema = z.object({
  id: z.string(),
  branch: text,
  commit_sha: text,
  created_at: momentSchema,
  web_url: text,
});
type Run = z.infer<typeof runSchema>;

type Content =
  | { kind: 'runs'; runs: readonly Run[] }
  | { kind: 'results'; results: readonly Result[]; env: RunEnv | undefined }
  | undefined;

export const buildkite: ExportTool = {
  name: 'buildkite',
  title: 'Buildkite Test Engine',
  description:
    'import test results as collectors of Buildkite Test Engine write them, and its runs as its API lists them',
  async *reports(files) {
    const own = files.filter(({ path }) => path.endsWith('.json'));
    const runs: Run[] = [];
    for (const file of own) {
      const content = await contentOf(file);
      if (content?.kind === 'runs') runs.push(...content.runs);
    }
    for (const file of own) {
      const content = await contentOf(file);
      if (!content) yield { path: file.path, leftOut: 'it holds no results of Buildkite Test Engine' };
      else if (content.kind === 'results') yield exportedOf(file, content, runs);
    }
  },
};

async function contentOf(file: ExportFile): Promise<Content> {
  const value = await jsonIn(file).catch(() => undefined);
  const upload = uploadSchema.safeParse(value).data;
  if (upload) return { kind: 'results', results: upload.data, env: upload.run_env };
  const results = z.array(resultSchema).min(1).safeParse(value).data;
  if (results) return { kind: 'results', results, env: undefined };
  const runs = z.union([z.array(runSchema), runSchema.transform((run) => [run])]).safeParse(value).data;
  return runs && { kind: 'runs', runs };
}

function exportedOf(
  file: ExportFile,
  { results, env }: Extract<Content, { kind: 'results' }>,
  runs: readonly Run[],
): Exported {
  const run = env ? undefined : runs.find(({ id }) => file.path.includes(id));
  const told: Told = {
    pipeline: 'Buildkite',
    job: 'Test Engine',
    runId: env?.key || run?.id || env?.number || file.path,
    commit: env?.commit_sha || run?.commit_sha || undefined,
    branch: withoutPrefix(env?.branch ?? run?.branch),
    endedAt: lastOf(results.map(({ history }) => wallClockMs(history?.end_at))) ?? run?.created_at,
    url: env?.url || run?.web_url || undefined,
  };
  return { path: file.path, format: 'ctrf', told, read: () => reportOf(file) };
}

/** Read again: only one file at a time is in memory. */
async function reportOf(file: ExportFile): Promise<Uint8Array> {
  const content = await contentOf(file);
  return Buffer.from(ctrfOf('buildkite', content?.kind === 'results' ? content.results.map(testOf) : []));
}

/** Clocks of most collectors begin when the machine did: those tell durations, and no times. */
const SINCE_2001_S = 1_000_000_000;
const wallClockMs = (seconds: number | null | undefined): number | undefined =>
  seconds && seconds > SINCE_2001_S ? momentSchema.parse(Math.round(seconds * 1_000)) : undefined;

function testOf({ scope, name, file_name: file, result, failure_reason: reason, ...more }: Result): WrittenTest {
  const { history, failure_expanded: expanded } = more;
  const [start, stop] = [wallClockMs(history?.start_at), wallClockMs(history?.end_at)];
  const details = (expanded ?? []).flatMap((one) => [...one.expanded, ...one.backtrace]);
  return {
    name,
    status: result ?? '',
    duration: Math.round(Math.max(0, history?.duration ?? 0) * 1_000),
    ...(start && { start }),
    ...(stop && { stop }),
    ...(scope && { suite: [scope] }),
    ...(file && { filePath: file.replace(/^\.\//, '') }),
    ...(reason && { message: reason }),
    ...(details.length > 0 && { trace: details.join('\n') }),
  };
}
