/** For those who operate the service: how it is doing, what arrived, and who has access. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { BASE } from '../api/client.ts';
import { serviceStateQuery } from '../api/queries.ts';
import { useTitle } from '../ui/title.ts';
import { Access } from './operations-access.tsx';
import { Audit } from './operations-audit.tsx';
import { State } from './operations-state.tsx';
import { Uploads } from './operations-uploads.tsx';

const route = getRouteApi('/signed/operations');

const VIEWS = [
  [undefined, 'State', State],
  ['uploads', 'Uploads', Uploads],
  ['access', 'Keys and sessions', Access],
  ['audit', 'Audit', Audit],
] as const;

export function Operations() {
  const { view, repository } = route.useSearch();
  const [, , View] = VIEWS.find(([name]) => name === view) ?? VIEWS[0];
  useTitle('Operations');
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2">
        <h1 className="text-lg font-semibold">Operations</h1>
        <nav aria-label="Views of operations" className="flex flex-wrap gap-1">
          {VIEWS.map(([name, label]) => (
            <Link
              key={label}
              to="/operations"
              // The repository that one looks at stays.
              search={{ view: name, repository: name && repository }}
              activeOptions={{ includeSearch: true, explicitUndefined: true }}
              className="rounded-md px-2.5 py-1 text-soft hover:text-ink hover:no-underline data-[status=active]:bg-raised data-[status=active]:font-medium data-[status=active]:text-ink"
            >
              {label}
            </Link>
          ))}
        </nav>
        <Version />
        <nav aria-label="Other pages of the service" className="flex gap-4">
          <a href={`${BASE}/admin/queues`}>Queues</a>
          <a href={`${BASE}/healthz/ready`}>Health</a>
          <a href={`${BASE}/metrics`}>Metrics</a>
        </nav>
      </div>
      <View />
    </>
  );
}

/** From the state of the service, which the first view reads, too. */
function Version() {
  const { data } = useQuery(serviceStateQuery);
  return <span className="ml-auto text-soft">{data && `Version ${data.version}`}</span>;
}
