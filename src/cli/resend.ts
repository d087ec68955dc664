/** `ci-insights resend`: sends again what was kept, after a restore. */
import { Command } from 'commander';
import { count, print, printError, printJson } from '../client/output.ts';
import { grouped } from '../domain/grouped-number.ts';
import { formatMoment, parseMoment } from '../domain/moment.ts';
import { SECOND_MS } from '../domain/time.ts';
import { UserError } from '../errors.ts';
import { operatorOf } from './operator.ts';
import { withStores } from './stores.ts';

/** How often it says how far it is. */
const PROGRESS_MS = 5 * SECOND_MS;

interface Options {
  since?: string;
  json?: boolean;
}

export const resendCommand = (): Command =>
  new Command('resend')
    .description('send again what was kept (UPLOADS_KEPT_DAYS), after a restore; what is stored already counts nothing')
    .option(
      '--since <moment>',
      'only what was stored since then, such as 2026-11-21T03:00:00Z; everything unless given',
    )
    .option('--json', 'print JSON')
    .action(async ({ since, json }: Options) => {
      const from = since === undefined ? 0 : parseMoment(since);
      if (from === undefined) throw new UserError('--since must be a date with a time, such as 2026-11-21T03:00:00Z.');
      const { recordAudit } = await import('../postgres/audit.ts');
      const { resendKept } = await import('../../workers/resend.ts');
      const resent = await withStores(async (deps) => {
        const { clock, postgres } = deps;
        const after = { since: since ?? null };
        await recordAudit(postgres.db, operatorOf('resend'), { action: 'uploads.resend', after }, clock.now());
        let saidAt = performance.now();
        return resendKept(deps, from, (until, { chunks, stored }) => {
          if (performance.now() - saidAt < PROGRESS_MS) return;
          saidAt = performance.now();
          printError(
            `up to ${formatMoment(until)}: ${count(chunks, 'chunk')} sent, ${count(stored, 'execution')} stored. To continue after an interruption: --since ${formatMoment(until)}`,
          );
        });
      });
      const { eventJobs, ...others } = resent;
      if (json) return printJson({ ...others, event_jobs: eventJobs });
      const { chunks, sent, stored, gone, buried, requeued, unreadable } = others;
      print(
        [
          `${count(chunks, 'chunk')} of uploads and ${count(eventJobs, 'job')} of events were sent again.`,
          `Of ${count(sent, 'execution')}, ${grouped(stored)} were stored now; the others were there.`,
          ...(gone > 0 ? [`${gone} left out: their repositories were deleted since.`] : []),
          ...(buried > 0 ? [`${buried} went to the dead letters.`] : []),
          ...(requeued > 0 ? [`${requeued} wait in the queue, for a worker to try again.`] : []),
          ...(unreadable > 0 ? [`${count(unreadable, 'line')} could not be read.`] : []),
        ].join('\n'),
      );
    });
