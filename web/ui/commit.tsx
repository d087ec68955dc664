/** A commit by the beginning of its id, as a link to what failed on it, with one to its host. */
import { Link } from '@tanstack/react-router';
import type { RepositoryPath } from '../api/queries.ts';
import { HostCommit } from './host.tsx';

const SHOWN = 10;

export const Commit = ({ path: { owner, repository }, commit }: { path: RepositoryPath; commit: string }) => (
  <span className="whitespace-nowrap">
    <Link
      to="/$owner/$repository/commits/$commit"
      params={{ owner, repository, commit }}
      className="-my-1 inline-block min-w-6 py-1 font-mono text-xs"
      data-hint={commit.length > SHOWN ? commit : undefined}
    >
      {commit.slice(0, SHOWN)}
    </Link>
    <HostCommit path={{ owner, repository }} commit={commit} />
  </span>
);
