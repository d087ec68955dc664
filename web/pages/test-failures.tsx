/** How a test fails: its groups of like failures, each with its newest messages, stacks and jobs. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { TestFailures } from '../../src/insights/failures.ts';
import { failureQuery, failuresQuery, type TestPath } from '../api/queries.ts';
import { Attachments } from '../ui/attachments.tsx';
import { ExternalLink } from '../ui/external.tsx';
import { formatCount, formatCounted } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';

type Group = TestFailures['failures'][number];

interface FailureGroupsProps {
  path: TestPath;
  /** Ever: longer ago than failures are retained, too. */
  hasFailed: boolean;
  opened: string | undefined;
  onOpen: (failureId: string | undefined) => void;
}

export function FailureGroups({ path, hasFailed, opened, onOpen }: FailureGroupsProps) {
  const { data, error, refetch, isPending } = useQuery(failuresQuery(path));
  return (
    <Section
      title="Failures"
      aside={
        data && (
          <>
            {formatCounted(data.failures.length, 'group')} of failed attempts, as far as they are retained ·{' '}
            <Link to="/$owner/$repository/tests/$testId/history" params={path} search={{ result: 'attempts' }}>
              each of them
            </Link>
          </>
        )
      }
    >
      {isPending && <Loading rows={4} />}
      {error && <Failed error={error} reset={() => void refetch()} />}
      {data?.failures.length === 0 && (
        <Empty
          title={hasFailed ? 'None of its failures is retained any more' : 'It has not failed on the default branch'}
        />
      )}
      {data?.failures.map((group) => (
        <FailureGroup
          key={group.id}
          path={path}
          group={group}
          isOpen={group.id === opened}
          onToggle={() => onOpen(group.id === opened ? undefined : group.id)}
        />
      ))}
    </Section>
  );
}

interface FailureGroupProps {
  path: TestPath;
  group: Group;
  isOpen: boolean;
  onToggle: () => void;
}

function FailureGroup({ path, group, isOpen, onToggle }: FailureGroupProps) {
  return (
    <div className="border-b border-line last:border-0">
      <button
        type="button"
        aria-expanded={isOpen}
        className="flex w-full items-start gap-3 px-4 py-2.5 text-left hover:bg-raised"
        onClick={onToggle}
      >
        <span aria-hidden="true" className={`text-soft motion-safe:transition-transform ${isOpen ? 'rotate-90' : ''}`}>
          ›
        </span>
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{group.exception_type}</span>
          <span className={`block text-soft ${isOpen ? 'break-words whitespace-pre-wrap' : 'truncate'}`}>
            {group.exception_message}
          </span>
        </span>
        <span className="shrink-0 text-right text-xs text-soft">
          <span className="block font-medium text-ink tabular-nums">{formatCount(group.failure_count)}×</span>
          <Time at={group.last_failure_at} />
        </span>
      </button>
      {isOpen && <Newest path={path} failureId={group.id} />}
    </div>
  );
}

function Newest({ path, failureId }: { path: TestPath; failureId: string }) {
  const { data, error, refetch, isPending } = useQuery(failureQuery(path, failureId));
  if (isPending) return <Loading rows={3} />;
  if (error) return <Failed error={error} reset={() => void refetch()} />;
  const stack = data.latest_events[0]?.exception_stacktrace;
  return (
    <div className="flex flex-col gap-3 px-4 pb-4 pl-9">
      <p className="text-xs text-soft">
        First <Time at={data.first_failure_at} />, last <Time at={data.last_failure_at} />
        {data.cause_id !== null && (
          <>
            {' · '}
            <Link
              to="/$owner/$repository/causes/$cause"
              params={{ owner: path.owner, repository: path.repository, cause: data.cause_id }}
            >
              What failed like this in other tests
            </Link>
          </>
        )}
      </p>
      {stack && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <pre tabIndex={0} className="max-h-80 overflow-auto rounded-md bg-raised p-3 font-mono text-xs leading-5">
          {stack}
        </pre>
      )}
      <ul className="flex flex-col gap-2 text-xs">
        {data.latest_events.map((event) => (
          <li key={event.id} className="flex flex-wrap gap-x-3 gap-y-2">
            <Time at={event.failed_at} isWhole />
            <Link
              to="/$owner/$repository/tests/$testId/history"
              params={path}
              search={{ result: 'attempts', at: event.id.split('.')[0] }}
              className="-my-1 inline-block min-w-6 py-1 underline"
            >
              stack
            </Link>
            {event.job_url && <ExternalLink href={event.job_url}>job</ExternalLink>}
            <Attachments attachments={event.attachments} />
            <span className="truncate text-soft">{event.test_filepath}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
