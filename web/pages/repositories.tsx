/** All repositories, those with the most trouble first. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { RepositoryList } from '../../src/insights/repositories.ts';
import { repositoriesQuery } from '../api/queries.ts';
import { formatCount } from '../ui/format.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { useTitle } from '../ui/title.ts';

type Repository = RepositoryList['repositories'][number];

export function Repositories() {
  useTitle('Repositories');
  const { data, error, refetch, isPending } = useQuery({ ...repositoriesQuery, refetchInterval: 15_000 });
  const [text, setText] = useState('');
  const found = data?.repositories.filter(({ owner, repository }) =>
    `${owner}/${repository}`.toLowerCase().includes(text.toLowerCase()),
  );
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <h1 className="text-lg font-semibold">Repositories</h1>
        {data && data.repositories.length > 8 && (
          <input
            type="search"
            aria-label="Find a repository"
            placeholder="Find a repository"
            className="field ml-auto w-64"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </div>
      <div className="card overflow-hidden">
        {isPending && <Loading />}
        {error && <Failed error={error} reset={() => void refetch()} />}
        {found && found.length > 0 && <Table repositories={found} />}
        {data?.repositories.length === 0 && (
          <Empty title="No repository has sent results yet">
            <p>Open the page of the one you want to begin with. It shows how to send its first report.</p>
            <OpenRepository />
          </Empty>
        )}
        {found?.length === 0 && data !== undefined && data.repositories.length > 0 && (
          <Empty title={`No repository has “${text}” in its name`} />
        )}
      </div>
    </>
  );
}

function Table({ repositories }: { repositories: readonly Repository[] }) {
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-left tabular-nums">
        <thead className="border-b border-line text-xs text-soft">
          <tr>
            <th className="px-4 py-2 font-medium">Repository</th>
            {['Tests', 'Broken', 'Flaky', 'Quarantined', 'Recovered'].map((name) => (
              <th key={name} className="px-4 py-2 text-right font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {repositories.map((one) => (
            <tr key={`${one.owner}/${one.repository}`} className="border-b border-line last:border-0 hover:bg-raised">
              <td className="px-4 py-2.5">
                <Link
                  to="/$owner/$repository/tests"
                  params={{ owner: one.owner, repository: one.repository }}
                  className="font-medium"
                >
                  {one.owner}/{one.repository}
                </Link>
                <span className="ml-2 text-xs text-soft">{one.default_branch}</span>
              </td>
              <Count value={one.tests} />
              <Count value={one.broken_tests} colour="text-broken" />
              <Count value={one.flaky_tests} colour="text-flaky" />
              <Count value={one.quarantined_tests} />
              <Count value={one.recovered_tests} colour="text-healthy" />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Count = ({ value, colour = '' }: { value: number; colour?: string }) => (
  <td className={`px-4 py-2.5 text-right ${value === 0 ? 'text-soft' : `font-medium ${colour}`}`}>
    {formatCount(value)}
  </td>
);

function OpenRepository() {
  const [name, setName] = useState('');
  const [owner = '', repository = ''] = name.trim().split('/');
  const isComplete = owner !== '' && repository !== '';
  return (
    <form className="mt-3 flex justify-center gap-2" onSubmit={(event) => event.preventDefault()}>
      <input
        aria-label="Owner and name of the repository"
        placeholder="acme/shop"
        className="field w-56"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Link
        to="/$owner/$repository/tests"
        params={{ owner, repository }}
        disabled={!isComplete}
        className="button aria-disabled:opacity-60"
      >
        Open
      </Link>
    </form>
  );
}
