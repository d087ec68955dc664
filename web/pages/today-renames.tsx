/** Tests that were perhaps renamed and wait for a decision, and those that were renamed lately. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type RepositoryPath, renamesOfTodayQuery } from '../api/queries.ts';
import { formatCounted } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';

const LATELY_MS = 14 * 86_400_000;
const SHOWN = 3;
const ROW = 'border-t border-line px-4 py-2 first:border-0';

export function RenamesOfToday({ path }: { path: RepositoryPath }) {
  const { data, error, refetch, isPending } = useQuery(renamesOfTodayQuery(path));
  const since = Date.now() - LATELY_MS;
  const waiting = data?.renames.filter(({ state }) => state === 'proposed').length ?? 0;
  const made =
    data?.renames.filter(
      ({ state, decided_at: at }) => state === 'accepted' && at !== null && Date.parse(at) > since,
    ) ?? [];
  return (
    <Section title="Renamed tests" aside="in the last 14 days">
      {isPending && <Loading rows={1} />}
      {error && <Failed error={error} reset={() => void refetch()} />}
      {data && waiting + made.length === 0 && <p className="px-4 py-2 text-soft">None.</p>}
      <ul>
        {waiting > 0 && (
          <li className={ROW}>
            <Link to="/$owner/$repository/settings" params={path} hash="renamed-tests" className="underline">
              {formatCounted(waiting, 'rename')} to accept or reject
            </Link>
          </li>
        )}
        {made.slice(0, SHOWN).map((one) => (
          <li key={one.id} className={`${ROW} break-words`}>
            {one.test_name} →{' '}
            <Link
              to="/$owner/$repository/tests/$testId"
              params={{ ...path, testId: one.test_id }}
              className="underline"
            >
              {one.new_name}
            </Link>
            <p className="text-xs text-soft">
              by {one.decided_by} {one.decided_at !== null && <Time at={one.decided_at} />}
            </p>
          </li>
        ))}
      </ul>
      {made.length > SHOWN && (
        <p className="border-t border-line px-4 py-2 text-xs">
          <Link to="/$owner/$repository/settings" params={path} hash="renamed-tests" className="underline">
            All {made.length}
          </Link>
        </p>
      )}
    </Section>
  );
}
