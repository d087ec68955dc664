/** The names that a test had before, and those that it perhaps has now. Nothing, if it has always had one. */
import { useQuery } from '@tanstack/react-query';
import { renamesQuery, sessionQuery, type TestPath } from '../api/queries.ts';
import { Renames } from '../ui/renames.tsx';

export function TestRenames({ path }: { path: TestPath }) {
  const { data } = useQuery(renamesQuery(path, { testId: path.testId }));
  const { data: session } = useQuery(sessionQuery);
  const shown = data?.renames.filter(({ state }) => state !== 'rejected') ?? [];
  if (shown.length === 0) return null;
  return (
    <section aria-label="Names" className="card">
      <Renames path={path} renames={shown} mayChange={session?.scope !== 'view'} />
    </section>
  );
}
