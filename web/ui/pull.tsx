/** A pull request by its number, as a link to its commits. */
import { Link } from '@tanstack/react-router';
import type { RepositoryPath } from '../api/queries.ts';

interface PullProps {
  path: RepositoryPath;
  number: number;
  /** Such as "Pull request "; the number alone where the place says what it is. */
  prefix?: string;
}

export const Pull = ({ path: { owner, repository }, number, prefix = '' }: PullProps) => (
  <Link
    to="/$owner/$repository/pulls/$number"
    params={{ owner, repository, number: String(number) }}
    className="underline"
  >
    {prefix}#{number}
  </Link>
);
