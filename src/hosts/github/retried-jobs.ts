/** Retried CI jobs → `ci_insights.job_retried`, once per job and attempt. */
import { newEvent } from '../../domain/events.ts';
import { noEvent, type Outcome, otherAction, withEvents } from '../webhooks/outcome.ts';
import { fitLabel, fitName } from '../webhooks/texts.ts';
import type { CheckRunPayload, WorkflowJobPayload } from './payloads.ts';

/**
 * The host's own pipelines report checks too, but their `workflow_job` deliveries also have the run and the attempt.
 */
const HOST_PIPELINES = 'github-actions';

/** A later attempt of a job is reported when it is queued and again when it begins: both are the same event. */
export function retriedWorkflowJob({ action, workflow_job: job }: WorkflowJobPayload, trigger: string): Outcome {
  const attempt = job.run_attempt ?? 1;
  if (action !== 'queued' && action !== 'in_progress') return otherAction(action);
  if (attempt < 2) return noEvent('The first attempt of a job is not a retry.');
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
  return withEvents([{ ...event, key: `github:job:${job.id}:${attempt}` }]);
}

/** A user asked the CI system behind a check to run it again. */
export function retriedCheck(
  { action, check_run: check }: CheckRunPayload,
  trigger: string,
  repositoryId: number,
): Outcome {
  if (action !== 'rerequested') return otherAction(action);
  if (check.app?.slug === HOST_PIPELINES)
    return noEvent('Retries of workflow jobs are taken from workflow_job deliveries.');
  const pulls = (check.pull_requests ?? []).filter(({ base }) => base.repo.id === repositoryId);
  // For a commit in several pull requests, the host does not say which one was meant.
  const pull = pulls.length === 1 ? pulls[0] : undefined;
  return withEvents([
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
