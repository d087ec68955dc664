/** Jobs that are run again → `ci_insights.job_retried`, once for each job and attempt. */
import { newEvent } from '../../domain/events.ts';
import type { CheckRunPayload, WorkflowJobPayload } from './payloads.ts';
import { fitLabel, fitName } from './texts.ts';
import { nothing, otherAction, type Told, told } from './told.ts';

/** The host's own pipelines report as checks too; `workflow_job` tells of them, with run and attempt. */
const HOST_PIPELINES = 'github-actions';

/** A later attempt of a job is told of when it is queued, and again when it begins: both are the same event. */
export function retriedWorkflowJob({ action, workflow_job: job }: WorkflowJobPayload, trigger: string): Told {
  const attempt = job.run_attempt ?? 1;
  if (action !== 'queued' && action !== 'in_progress') return otherAction(action);
  if (attempt < 2) return nothing('is of the first attempt of a job');
  const event = newEvent(
    'ci_insights.job_retried',
    {
      pipeline_name: job.workflow_name ? fitLabel(job.workflow_name) : null,
      job_name: fitLabel(job.name),
      run_id: String(job.run_id),
      run_attempt: attempt,
      commit: fitName(job.head_sha),
      branch: job.head_branch ? fitName(job.head_branch) : null,
    },
    { trigger },
  );
  return told([{ ...event, key: `github:job:${job.id}:${attempt}` }]);
}

/** Somebody asked the CI system behind a check for another run of it. */
export function retriedCheck(
  { action, check_run: check }: CheckRunPayload,
  trigger: string,
  repositoryId: number,
): Told {
  if (action !== 'rerequested') return otherAction(action);
  if (check.app?.slug === HOST_PIPELINES) return nothing('is of a job of which workflow_job deliveries tell');
  const pulls = (check.pull_requests ?? []).filter(({ base }) => base.repo.id === repositoryId);
  // A commit of several pull requests: the host does not say for which one it was.
  const pull = pulls.length === 1 ? pulls[0] : undefined;
  return told([
    newEvent(
      'ci_insights.job_retried',
      {
        pipeline_name: check.app ? fitLabel(check.app.name) : null,
        job_name: fitLabel(check.name),
        commit: fitName(check.head_sha),
        branch: check.check_suite?.head_branch ? fitName(check.check_suite.head_branch) : null,
      },
      { trigger, pullRequest: pull?.number ?? null, baseRef: pull ? fitName(pull.base.ref) : null },
    ),
  ]);
}
