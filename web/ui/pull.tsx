/** A pull request by its number, as a link to its commits, with one to its host. */
import { Link } from '@tanstack/react-router';
import type { RepositoryPath } from '../api/queries.ts';
import { HostPull } from './host.tsx';

interface PullProps {
  path: RepositoryPath;
  number: number;
  /** Such as "Pull request "; the number alone where the place says what it is. */
  prefix?: string;
}

export const Pull = ({ path: { owner, repository }, number, prefix = '' }: PullProps) => (
  <span className="whitespace-nowrap">
    <Link
      to="/$owner/$repository/pulls/$number"
      params={{ owner, repository, number: String(number) }}
      className="-my-0.5 inline-block min-w-6 py-0.5 underline"
    >
      {prefix}#{number}
    </Link>
    <HostPull path={{ owner, repository }} number={number} />
  </span>
);
