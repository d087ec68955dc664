/** The reports of an export as a source, oldest first: what the tool says about their runs, and what options add. */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { NAME_LENGTH_MAX } from '../../../domain/limits.ts';
import { UserError } from '../../../errors.ts';
import { addressOf } from '../../run-info.ts';
import type { ImportItem, ImportSource } from '../item.ts';
import { type PastJob, uploadOf } from '../past-job.ts';
import type { ExportedReport, ExportTool } from './export.ts';
import { filesOfExport } from './files.ts';

/** The options. Pipeline and job are for all reports, the others for those that do not say it. */
export interface Said {
  pipeline?: string;
  job?: string;
  commit?: string;
  branch?: string;
  at?: string;
  defaultBranch?: string;
}

interface Ready {
  report: ExportedReport;
  job: PastJob;
}

/** Reads all of it once, so that what is missing is told before anything is sent. Throws a {@link UserError}. */
export async function openExport(tool: ExportTool, path: string, said: Said): Promise<ImportSource> {
  const ready: Ready[] = [];
  const leftOut: { path: string; reason: string }[] = [];
  for await (const found of tool.reports(await filesOfExport(path))) {
    if ('leftOut' in found) {
      leftOut.push({ path: found.path, reason: found.leftOut });
      continue;
    }
    const job = jobOf(found, said);
    if (typeof job === 'string') leftOut.push({ path: found.path, reason: job });
    else ready.push({ report: found, job });
  }
  if (ready.length === 0) throw new UserError(nothingIn(path, tool, leftOut));
  ready.sort((one, other) => one.job.endedAt - other.job.endedAt);
  return {
    name: `${tool.name} ${resolve(path)}`,
    expected: ready.length,
    async *items(isDone) {
      for (const { path: name, reason } of leftOut) yield { kind: 'left_out', key: `left out ${name}`, name, reason };
      for (const one of ready) {
        const item = itemOf(one);
        if (!isDone(item.key)) yield item;
      }
    },
  };
}

function nothingIn(path: string, tool: ExportTool, leftOut: readonly { path: string; reason: string }[]): string {
  const [first] = leftOut;
  if (!first) return `${path} holds nothing that ${tool.title} writes.`;
  return `No report of ${path} can be taken. ${first.path}: ${first.reason}.`;
}

function itemOf({ report, job }: Ready): ImportItem & { kind: 'report' } {
  const upload = uploadOf(job, report.path);
  // With what options say: started again with others, it is another upload.
  const key = createHash('sha256').update(JSON.stringify(upload)).digest('base64url');
  return { kind: 'report', key, name: report.path, format: report.format, ...upload, read: () => report.read() };
}

/** The job, or what is missing. */
function jobOf({ told }: ExportedReport, said: Said): PastJob | string {
  const commit = told.commit ?? said.commit;
  const branch = told.branch ?? said.branch;
  const endedAt = told.endedAt ?? (said.at === undefined ? undefined : Date.parse(said.at));
  if (commit === undefined) return 'it does not say which commit it tested; name it with --commit';
  if (branch === undefined) return 'it does not say which branch it tested; name it with --branch';
  if (endedAt === undefined) return 'it does not say when its tests ran; name a time with --at';
  const fit = (text: string): string => text.slice(0, NAME_LENGTH_MAX);
  return {
    pipeline: fit(said.pipeline ?? told.pipeline),
    runId: fit(told.runId),
    attempt: 1,
    leg: { job: fit(said.job ?? told.job), axes: {}, place: {} },
    commit: fit(commit),
    subject: { branch: fit(branch), pullRequest: undefined, baseRef: undefined, defaultBranch: said.defaultBranch },
    url: addressOf(told.url),
    endedAt,
  };
}
