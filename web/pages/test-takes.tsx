/** How long a test takes: the median of what passed, from its fastest leg to its slowest, and whether it grew. */
import { Link } from '@tanstack/react-router';
import type { TestDetails } from '../../src/insights/details.ts';
import type { TestPath } from '../api/queries.ts';
import { formatSeconds } from '../ui/format.ts';
import { formatUtcDay } from '../ui/utc.ts';

export function Takes({ path, legs }: { path: TestPath; legs: TestDetails['legs'] }) {
  const medians = legs.flatMap(({ median_seconds: median }) => median ?? []);
  if (medians.length === 0) return '–';
  const [least, most] = [Math.min(...medians), Math.max(...medians)].map(formatSeconds);
  const [since] = legs.flatMap(({ grown_since: grown }) => grown ?? []).sort();
  return (
    <>
      {least === most ? most : `${least} to ${most}`}
      {since !== undefined && (
        <Link
          to="/$owner/$repository/durations"
          params={{ owner: path.owner, repository: path.repository }}
          search={{ sort: 'growth' }}
          className="block text-broken"
        >
          ▲ longer since {formatUtcDay(Date.parse(since))}
        </Link>
      )}
    </>
  );
}
