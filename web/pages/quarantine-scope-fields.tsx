/** To what a quarantine is narrowed: a pipeline or CI job, axes, and failure groups. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { executionsQuery, type TestPath } from '../api/queries.ts';
import { formatCount } from '../ui/format.ts';
import { Time } from '../ui/time.tsx';
import { writeAxes } from './quarantine-axes.ts';
import { type Draft, type Failure, type FailureGroup, type Proposal, placeValue } from './quarantine-draft.ts';

/** How long ago a test may have run in a place that is offered. */
const PLACES_MS = 90 * 86_400_000;
const HOUR_MS = 3_600_000;

type Place = Pick<Failure, 'pipeline' | 'job'>;

/** Where a test may be quarantined: where it ran on the default branch, and where it failed. Undefined: not known yet. */
export function usePlaces(path: TestPath, failure: Failure | undefined): readonly Place[] | undefined {
  const window = useMemo(() => {
    const end = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
    return { start: new Date(end - PLACES_MS).toISOString(), end: new Date(end).toISOString() };
  }, []);
  const { data, isPending } = useQuery(executionsQuery(path, window));
  if (isPending) return undefined;
  const places: Place[] = (data?.executions ?? []).map((one) => ({ pipeline: one.pipeline_name, job: one.job_name }));
  const isKnown = places.some(({ pipeline, job }) => pipeline === failure?.pipeline && job === failure.job);
  return failure && !isKnown ? [failure, ...places] : places;
}

interface FieldProps {
  /** The first choice. */
  first: Draft;
  /** Where the first choice comes from. */
  proposal: Proposal | undefined;
}

interface PlaceFieldProps extends FieldProps {
  places: readonly Place[];
}

export function PlaceField({ places, first: { pipeline: firstPipeline, job: firstJob }, proposal }: PlaceFieldProps) {
  const byPipeline = new Map<string, Set<string>>();
  const known = (pipeline: string): Set<string> => {
    const jobs = byPipeline.get(pipeline) ?? new Set();
    byPipeline.set(pipeline, jobs);
    return jobs;
  };
  for (const { pipeline, job } of places) known(pipeline).add(job);
  // It may be proposed for where the default branch has not run it.
  if (firstPipeline !== null && firstJob === null) known(firstPipeline);
  if (firstPipeline !== null && firstJob !== null) known(firstPipeline).add(firstJob);
  const first = firstPipeline === null && firstJob === null ? '' : placeValue(firstPipeline, firstJob);
  const isProposed = proposal !== undefined && (proposal.pipeline !== null || proposal.job !== null);
  return (
    <label className="flex flex-col gap-1.5 font-medium">
      Where
      <select
        name="place"
        className="field font-normal"
        defaultValue={first}
        aria-describedby={isProposed ? 'place-help' : undefined}
      >
        <option value="">In every pipeline and CI job</option>
        {firstPipeline === null && firstJob !== null && <option value={first}>Every pipeline · {firstJob}</option>}
        {[...byPipeline].map(([pipeline, jobs]) => (
          <optgroup key={pipeline} label={pipeline}>
            <option value={placeValue(pipeline, null)}>{pipeline}, every CI job</option>
            {[...jobs].map((job) => (
              <option key={job} value={placeValue(pipeline, job)}>
                {pipeline} · {job}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      {isProposed && (
        <span id="place-help" className="text-xs font-normal text-soft wrap-anywhere">
          {proposal.reason} Choose every pipeline and CI job to excuse it everywhere.
        </span>
      )}
    </label>
  );
}

export const AxesField = ({ first: { axes }, proposal }: FieldProps) => (
  <label className="flex flex-col gap-1.5 font-medium">
    Axes
    <input
      name="axes"
      className="field font-normal"
      placeholder="Every leg"
      defaultValue={axes === null ? '' : writeAxes(axes)}
      aria-describedby="axes-help"
    />
    <span id="axes-help" className="flex flex-col gap-1 text-xs font-normal text-soft">
      {proposal?.axes && <span className="wrap-anywhere">{proposal.reason} Clear the field to excuse every leg.</span>}
      <span>
        Such as os=windows, python=3.13. Of one axis, either value; a leg that does not tell it is not excused.
      </span>
    </span>
  </label>
);

interface WhichFailuresProps {
  groups: readonly FailureGroup[];
  /** The first choice. */
  first: Draft;
  /** Whether failure groups are chosen, instead of every failure. */
  isChoosing: boolean;
}

export const WhichFailures = ({ groups, first: { failureIds: first }, isChoosing }: WhichFailuresProps) => (
  <fieldset className="flex flex-col gap-1.5">
    <legend className="mb-1.5 font-medium">Which failures</legend>
    <label className="flex items-center gap-2">
      <input type="radio" name="which" value="every" defaultChecked={first === null} className="size-4 accent-accent" />
      Every failure
    </label>
    <label className="flex items-center gap-2">
      <input
        type="radio"
        name="which"
        value="some"
        defaultChecked={first !== null}
        disabled={groups.length === 0}
        className="size-4 accent-accent"
      />
      Only some failure groups
      {groups.length === 0 && <span className="text-xs text-soft">it has not failed on the default branch</span>}
    </label>
    {isChoosing && (
      <ul className="max-h-52 overflow-auto rounded-md border border-line">
        {groups.map((group) => (
          <li key={group.id} className="border-b border-line last:border-0">
            <label className="flex items-start gap-2 px-3 py-2 hover:bg-raised">
              <input
                type="checkbox"
                name="failure"
                value={group.id}
                defaultChecked={first?.includes(group.id)}
                className="mt-0.5 size-4 shrink-0 accent-accent"
              />
              <span className="min-w-0 flex-1">
                <span className="block truncate font-medium">{group.exception_type}</span>
                <span className="line-clamp-2 break-words text-soft">{group.exception_message}</span>
              </span>
              <span className="shrink-0 text-right text-xs text-soft">
                <span className="block tabular-nums">
                  {group.failure_count === 0 ? 'only here' : `${formatCount(group.failure_count)}×`}
                </span>
                <Time at={group.last_failure_at} />
              </span>
            </label>
          </li>
        ))}
      </ul>
    )}
  </fieldset>
);
