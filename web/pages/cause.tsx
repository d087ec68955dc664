/** One cause: its newest failure, when it failed, between which commits it began, and what it hit. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CausePage } from '../../src/insights/cause.ts';
import { causeQuery, promptQuery, type RepositoryPath } from '../api/queries.ts';
import { Attachments } from '../ui/attachments.tsx';
import { Chart } from '../ui/chart.tsx';
import { Commit } from '../ui/commit.tsx';
import { CopyPrompt } from '../ui/copy-prompt.tsx';
import { dayStarts, failuresByDay } from '../ui/day-sparkline.tsx';
import { ExternalLink } from '../ui/external.tsx';
import { formatCount, formatCounted, formatSeconds, formatShares } from '../ui/format.ts';
import { HealthBadge } from '../ui/health.tsx';
import { Compare } from '../ui/host.tsx';
import { legWords } from '../ui/leg-words.ts';
import { Pull } from '../ui/pull.tsx';
import { Section } from '../ui/section.tsx';
import { NotYet } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { daysUpTo, formatUtcDay, UTC_HINT } from '../ui/utc.ts';
import { CauseQuarantine } from './cause-quarantine.tsx';
import { CauseTerms } from './cause-terms.tsx';

const route = getRouteApi('/signed/$owner/$repository/causes/$cause');
const DAYS = 90;

export function Cause() {
  const { owner, repository, cause: id } = route.useParams();
  const path = { owner, repository };
  const { data, error, refetch } = useQuery(causeQuery(path, id));
  const type = data?.newest_failure.exception_type;
  useTitle(type ? `Cause: ${type}` : 'Cause');
  if (!data) return <NotYet title="Cause" error={error} reset={() => void refetch()} />;
  return (
    <div className="flex flex-col gap-5">
      <Head path={path} cause={data} />
      <CauseQuarantine path={path} cause={data} />
      <Section title="Newest failure" aside={<Time at={data.newest_failure.failed_at} />}>
        <NewestFailure path={path} failure={data.newest_failure} />
      </Section>
      <Section title="Failures by day" aside={`${DAYS} days`}>
        <div className="flex flex-col gap-2 p-4">
          <Days cause={data} />
          <p className="text-xs text-soft">{UTC_HINT}</p>
        </div>
      </Section>
      <Section title="Beginning">
        <Beginning path={path} cause={data} />
      </Section>
      <Section title="Cost" aside="28 days, all branches">
        <Cost cost={data.cost} />
      </Section>
      <Section title="Tests" aside={formatCounted(data.test_count, 'test')}>
        <Tests path={path} cause={data} />
      </Section>
      <div className="grid gap-5 lg:grid-cols-2">
        <Section title="Where" aside={formatCounted(data.leg_count, 'leg')}>
          <Rows>
            {data.legs.map((leg) => (
              <li key={JSON.stringify([leg.pipeline_name, leg.job_name, leg.axes])} className={ROW}>
                <span className="min-w-0 break-words">
                  {leg.pipeline_name} · {legWords(leg.job_name, leg.axes)}
                </span>
                <Times count={leg.failure_count} />
              </li>
            ))}
          </Rows>
          <LeftOut shown={data.legs.length} all={data.leg_count} />
        </Section>
        <Section title="Pull requests" aside="that failed in the same way">
          {data.pull_requests.length === 0 ? (
            <p className="px-4 py-3 text-soft">None of those that are retained.</p>
          ) : (
            <Rows>
              {data.pull_requests.map((pull) => (
                <li key={pull.number} className={ROW}>
                  <Pull path={path} number={pull.number} />
                  <span className="ml-auto text-soft">
                    <Time at={pull.last_failure_at} />
                  </span>
                  <Times count={pull.failure_count} />
                </li>
              ))}
            </Rows>
          )}
        </Section>
      </div>
      {data.messages.length > 1 && (
        <Section title="Messages" aside="joined because they broke out together">
          <Rows>
            {data.messages.map((message) => (
              <li key={JSON.stringify([message.exception_type, message.exception_message])} className={ROW}>
                <span className="min-w-0 break-words">
                  <span className="font-medium">{message.exception_type}</span>{' '}
                  <span className="text-soft">{message.exception_message}</span>
                </span>
                <Times count={message.failure_count} />
              </li>
            ))}
          </Rows>
        </Section>
      )}
    </div>
  );
}

const ROW = 'flex items-baseline gap-3 border-b border-line px-4 py-2 last:border-0';

const Rows = ({ children }: { children: ReactNode }) => <ul>{children}</ul>;

const Times = ({ count }: { count: number }) => (
  <span className="ml-auto shrink-0 text-xs font-medium tabular-nums">{formatCount(count)}×</span>
);

const LeftOut = ({ shown, all }: { shown: number; all: number }) =>
  shown < all ? <p className="px-4 py-2 text-xs text-soft">{formatCount(all - shown)} more are not shown.</p> : null;

function Head({ path, cause }: { path: RepositoryPath; cause: CausePage }) {
  const { newest_failure: newest } = cause;
  return (
    <header>
      <h1 className="text-lg font-semibold break-words">
        {cause.messages[0]?.exception_message || newest.exception_type || 'No message'}
      </h1>
      <p className="mt-1 text-soft">
        {newest.exception_type && <span>{newest.exception_type} · </span>}
        {formatCounted(cause.failure_count, 'failure')} in {formatCounted(cause.test_count, 'test')}, first{' '}
        <Time at={cause.first_failure_at} />, last <Time at={cause.last_failure_at} />
      </p>
      {cause.merged_from.length > 0 && (
        <p className="mt-1 text-xs text-soft">
          {formatCounted(cause.merged_from.length, 'other cause')} turned out to be this one.
        </p>
      )}
      <CauseTerms path={path} cause={cause} />
      <div className="mt-2 flex flex-wrap gap-2">
        <CopyPrompt query={promptQuery(path, { causeId: cause.cause_id })} about="this cause" />
      </div>
    </header>
  );
}

function Days({ cause: { failures_by_day: days } }: { cause: CausePage }) {
  const window = daysUpTo(Date.now(), DAYS);
  const values = failuresByDay(days, window);
  const total = values.reduce((sum, count) => sum + count, 0);
  return (
    <Chart
      label={`${formatCounted(total, 'failure')} in ${formatCounted(DAYS, 'day')}`}
      starts={dayStarts(window)}
      end={window.end}
      bars={[{ name: 'Failures', colour: 'text-broken', values }]}
      size="low"
    />
  );
}

function NewestFailure({ path, failure }: { path: RepositoryPath; failure: CausePage['newest_failure'] }) {
  return (
    <div className="flex flex-col gap-2 p-4">
      <p className="flex flex-wrap gap-x-3 gap-y-2">
        <Link
          to="/$owner/$repository/tests/$testId"
          params={{ ...path, testId: failure.test.test_id }}
          search={{ failure: failure.failure_id }}
          className="min-w-0 font-medium break-words"
        >
          {failure.test.test_name}
        </Link>
        {failure.job_url !== null && <ExternalLink href={failure.job_url}>job</ExternalLink>}
        <Attachments attachments={failure.attachments} />
      </p>
      <p className="break-words whitespace-pre-wrap">{failure.exception_message}</p>
      {failure.exception_stacktrace !== null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <pre tabIndex={0} className="max-h-80 overflow-auto rounded-md bg-raised p-3 font-mono text-xs leading-5">
          {failure.exception_stacktrace}
        </pre>
      )}
    </div>
  );
}

/** Which commits to look at, or that none is to blame. */
function Beginning({ path, cause: { beginning } }: { path: RepositoryPath; cause: CausePage }) {
  const { kind, test, failed_commit: failed, passed_commit: passed, passed_at: passedAt } = beginning;
  const where =
    beginning.job_name === null || beginning.axes === null ? '' : ` in ${legWords(beginning.job_name, beginning.axes)}`;
  return (
    <div className="flex flex-col gap-1 p-4">
      {kind === 'commits' && passed !== null && failed !== null && (
        <p>
          It began after <Commit path={path} commit={passed} />; <Commit path={path} commit={failed} /> was the first
          that failed. <Compare path={path} from={passed} to={failed} />
        </p>
      )}
      {kind === 'same_commit' && failed !== null && (
        <p>
          No commit of yours: <Commit path={path} commit={failed} /> passed here before.
        </p>
      )}
      {kind === 'no_pass' && failed !== null && (
        <p>
          It began with <Commit path={path} commit={failed} />. The test had not passed there in the 14 days before.
        </p>
      )}
      {kind === 'not_retained' && <p>Its first failure is not retained any more.</p>}
      <p className="text-soft">
        By {test.test_name}
        {where}
        {passedAt !== null && (
          <>
            , which passed last <Time at={passedAt} />
          </>
        )}
        .
      </p>
    </div>
  );
}

/** Its part of the red runs: a run that other causes failed, too, is shared out among all. */
function Cost({ cost }: { cost: CausePage['cost'] }) {
  if (cost.failed_runs === 0 && cost.queue_departures === 0)
    return <p className="px-4 py-3 text-soft">No red run in this time.</p>;
  const figures: readonly (readonly [string, string])[] = [
    ['Red runs', `${formatShares(cost.red_runs)} of ${formatCount(cost.failed_runs)} that it hit`],
    ['Red by it alone', formatCount(cost.red_runs_alone)],
    ['CI in reruns', formatSeconds(cost.rerun_minutes * 60)],
    ['Waiting of authors', formatSeconds(cost.waiting_hours * 3_600)],
    ['Pull requests hit', formatCount(cost.pull_requests)],
    ['Left the merge queue', formatShares(cost.queue_departures)],
    ...(cost.money === null ? [] : [['Money', formatShares(cost.money)] as const]),
  ];
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 p-4 sm:grid-cols-3 lg:grid-cols-6">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt className="text-xs text-soft">{name}</dt>
          <dd className="font-medium tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Tests({ path, cause }: { path: RepositoryPath; cause: CausePage }) {
  return (
    <>
      <Rows>
        {cause.tests.map((test) => (
          <li key={test.test_id} className={ROW}>
            <span className="w-18 shrink-0">
              <HealthBadge health={test.health_status} />
            </span>
            <Link
              to="/$owner/$repository/tests/$testId"
              params={{ ...path, testId: test.test_id }}
              className="min-w-0 break-words text-ink"
            >
              {test.test_name}
            </Link>
            {test.quarantine_ids.length > 0 && <span className="text-xs text-soft">quarantined</span>}
            <span className="ml-auto shrink-0 text-xs text-soft max-sm:hidden">
              last {formatUtcDay(Date.parse(test.last_failure_on))}
            </span>
            <span className="w-12 shrink-0 text-right text-xs font-medium tabular-nums max-sm:ml-auto">
              {formatCount(test.failure_count)}×
            </span>
          </li>
        ))}
      </Rows>
      <LeftOut shown={cause.tests.length} all={cause.test_count} />
    </>
  );
}
