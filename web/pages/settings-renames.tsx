/** Tests that were renamed, or perhaps were: the newest, all of the repository. */
import { useQuery } from '@tanstack/react-query';
import { type RepositoryPath, renamesQuery, sessionQuery } from '../api/queries.ts';
import { Renames } from '../ui/renames.tsx';
import { Section } from '../ui/section.tsx';
import { Failed, Loading } from '../ui/states.tsx';

export function RenamedTests({ path }: { path: RepositoryPath }) {
  const { data, error, refetch, isPending } = useQuery(renamesQuery(path));
  const { data: session } = useQuery(sessionQuery);
  return (
    <Section title="Renamed tests">
      {isPending && <Loading rows={2} />}
      {error && <Failed error={error} reset={() => void refetch()} />}
      {data?.renames.length === 0 && (
        <p className="px-4 py-3 text-soft">
          No test was renamed. When one ends on the commit on which another begins that is like it, both are listed
          here.
        </p>
      )}
      {data && <Renames path={path} renames={data.renames} mayChange={session?.scope !== 'view'} />}
    </Section>
  );
}
