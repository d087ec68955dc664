/** Tests that turned broken or flaky, recovered or were fixed in the last seven days. */
import { Link } from '@tanstack/react-router';
import type { RepositoryTransitions } from '../../src/insights/repository-transitions.ts';
import type { RepositoryPath } from '../api/queries.ts';
import { Commit } from '../ui/commit.tsx';
import { formatCount } from '../ui/format.ts';
import { Pull } from '../ui/pull.tsx';
import { Section } from '../ui/section.tsx';
import { Time } from '../ui/time.tsx';

type Transition = RepositoryTransitions['transitions'][number];

const WORDS: Record<Transition['turn'], { title: string; colour: string }> = {
  turned_broken: { title: 'Turned broken', colour: 'text-broken' },
  turned_flaky: { title: 'Turned flaky', colour: 'text-flaky' },
  recovered: { title: 'Recovered', colour: 'text-healthy' },
  fixed: { title: 'Fixed', colour: 'text-healthy' },
};
const SHOWN = 8;

export function Turns({ path, found }: { path: RepositoryPath; found: RepositoryTransitions }) {
  const { transitions, counts, is_complete: isComplete } = found;
  return (
    <Section title="Tests that changed" aside="in the last 7 days">
      {transitions.length === 0 && <p className="px-4 py-3 text-soft">None: every test is as it was a week ago.</p>}
      {Object.entries(WORDS).map(([turn, { title, colour }]) => {
        const shown = transitions.filter((one) => one.turn === turn);
        const count = counts[turn] ?? 0;
        return (
          count > 0 && (
            <div key={turn} className="border-b border-line last:border-0">
              <h3 className={`px-4 pt-2 text-sm font-medium ${colour}`}>
                {title} <span className="tabular-nums">{formatCount(count)}</span>
              </h3>
              <ul>
                {shown.slice(0, SHOWN).map((one) => (
                  <Row key={`${one.test_id} ${one.at}`} path={path} one={one} />
                ))}
              </ul>
              {count > Math.min(SHOWN, shown.length) && (
                <p className="px-4 pb-2 text-xs text-soft">
                  and {formatCount(count - Math.min(SHOWN, shown.length))} more
                </p>
              )}
            </div>
          )
        );
      })}
      {!isComplete && <p className="px-4 py-2 text-xs text-soft">These are the tests that changed last.</p>}
    </Section>
  );
}

const Row = ({ path, one }: { path: RepositoryPath; one: Transition }) => (
  <li className="px-4 py-1.5">
    <div className="flex items-baseline gap-3">
      <Link
        to="/$owner/$repository/tests/$testId"
        params={{ ...path, testId: one.test_id }}
        className="min-h-6 min-w-0 flex-1 break-words text-ink"
      >
        {one.test_name}
      </Link>
      <span className="shrink-0 text-xs text-soft">
        <Time at={one.at} />
      </span>
    </div>
    {(one.commit_sha !== null || one.pull_request !== null) && (
      <p className="text-xs text-soft">
        {one.commit_sha !== null && (
          <>
            since <Commit path={path} commit={one.commit_sha} />
          </>
        )}
        {one.pull_request && (
          <>
            {' '}
            <Pull path={path} number={one.pull_request.number} /> by {one.pull_request.user.login}
          </>
        )}
        {one.exception_type !== null && ` · ${one.exception_type}`}
      </p>
    )}
  </li>
);
