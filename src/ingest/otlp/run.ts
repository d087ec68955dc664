/** The run of a span, from the attributes of the span and of its resource. */

import { AXIS_NAME_LENGTH_MAX, type Axes, joinedAxes } from '../../domain/axes.ts';
import type { Run } from '../../domain/columns.ts';
import { shortBranch } from '../../domain/default-branch.ts';
import { UINT32_MAX, UNKNOWN } from '../../domain/limits.ts';
import { archOf, axesFrom, osOf, runtimeAxes } from '../../formats/environment.ts';
import { headOf } from '../ref.ts';
import type { Attributes } from './attributes.ts';

/** Names of places, and the attributes that name them. */
const PLACES = {
  host: 'host.name',
  pod: 'k8s.pod.name',
  region: 'cloud.region',
  runner: 'cicd.worker.name',
} as const;
const AXIS = 'test.axis.';
/** In bytes; a longer name is none of an axis. */
export const RUN_ATTRIBUTE_BYTES_MAX = AXIS.length + AXIS_NAME_LENGTH_MAX;

/** Attributes that identify a run: a span with one of them may belong to a different run than its resource. */
const RUN_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...Object.values(PLACES),
  'cicd.pipeline.name',
  'cicd.pipeline.run.attempt',
  'cicd.pipeline.run.id',
  'cicd.pipeline.run.url',
  'cicd.pipeline.run.url.full',
  'cicd.pipeline.task.name',
  'cicd.pipeline.task.run.url.full',
  'host.arch',
  'mergify.test.job.name',
  'os.type',
  'process.runtime.name',
  'process.runtime.version',
  'telemetry.sdk.language',
  'test.framework',
  'test.framework.version',
  'test.language',
  'test.run.id',
  'vcs.change.id',
  'vcs.ref.base.name',
  'vcs.ref.head.name',
  'vcs.ref.head.revision',
  'vcs.ref.head.type',
]);

/** Whether a span with this attribute may belong to a different run than its resource. */
export const isOfRun = (name: string): boolean => RUN_ATTRIBUTES.has(name) || name.startsWith(AXIS);

export function runOf(attributes: Attributes, traceId: string): Run {
  const isTag = attributes.text('vcs.ref.head.type') === 'tag';
  const head = headOf(isTag ? null : attributes.text('vcs.ref.head.name'));
  const baseRef = attributes.text('vcs.ref.base.name');
  const axes = axesOf(attributes);
  const place = axesFrom(
    Object.fromEntries(Object.entries(PLACES).map(([name, attribute]) => [name, attributes.text(attribute)])),
  );
  return {
    pipeline_name: attributes.text('cicd.pipeline.name') ?? UNKNOWN,
    job_name: attributes.firstText('mergify.test.job.name', 'cicd.pipeline.task.name') ?? UNKNOWN,
    ...(axes && { axes }),
    ...(place && { place }),
    run_id: attributes.firstText('cicd.pipeline.run.id', 'test.run.id') ?? traceId,
    run_attempt: positiveOf(attributes, 'cicd.pipeline.run.attempt') ?? 1,
    commit: attributes.text('vcs.ref.head.revision'),
    branch: head.branch,
    base_ref: baseRef === null ? null : shortBranch(baseRef),
    pull_request: head.pullRequest ?? positiveOf(attributes, 'vcs.change.id'),
    default_branch: null,
    framework: attributes.text('test.framework'),
    framework_version: attributes.text('test.framework.version'),
    language: attributes.firstText('test.language', 'telemetry.sdk.language'),
    job_url: attributes.firstText(
      'cicd.pipeline.task.run.url.full',
      'cicd.pipeline.run.url.full',
      'cicd.pipeline.run.url',
    ),
  };
}

/** Versions of the system differ from run to run. */
const axesOf = (attributes: Attributes): Axes | undefined =>
  joinedAxes(
    axesFrom(Object.fromEntries(attributes.startingWith(AXIS))),
    axesFrom({ os: osOf(attributes.text('os.type') ?? ''), arch: archOf(attributes.text('host.arch') ?? '') }),
    runtimeAxes(attributes.text('process.runtime.name') ?? '', attributes.text('process.runtime.version') ?? ''),
  );

function positiveOf(attributes: Attributes, name: string): number | null {
  const count = attributes.count(name);
  return count !== null && count >= 1 && count <= UINT32_MAX ? count : null;
}
