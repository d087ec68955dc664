/** In which pipelines and CI jobs a test ran. */
import { useQuery } from '@tanstack/react-query';
import { executionsQuery, type TestPath, type TimeWindow } from '../api/queries.ts';
import { formatCount } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { Failed, Loading } from '../ui/states.tsx';

export function Places({ path, window }: { path: TestPath; window: TimeWindow }) {
  const { data, error, refetch, isPending } = useQuery(executionsQuery(path, window));
  return (
    <Section title="Where it ran">
      {isPending && <Loading rows={2} />}
      {error && <Failed error={error} reset={() => void refetch()} />}
      {data?.executions.length === 0 && <p className="px-4 py-3 text-soft">Nowhere in this window.</p>}
      <ul>
        {data?.executions.map(({ pipeline_name: pipeline, job_name: job, executions_count: count }) => (
          <li
            key={`${pipeline} ${job}`}
            className="flex items-baseline gap-2 border-b border-line px-4 py-2 last:border-0"
          >
            <span className="min-w-0 flex-1 break-words">
              {pipeline} <span className="text-soft">· {job}</span>
            </span>
            <span className="tabular-nums">{formatCount(count)}×</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
