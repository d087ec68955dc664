/** A repository as people type it. */
import type { RepositoryPath } from '../api/queries.ts';

/** Undefined unless the text names an owner and a repository, and nothing else. */
export function repositoryIn(text = ''): RepositoryPath | undefined {
  const [owner, repository, ...more] = text.trim().split('/');
  return owner && repository && more.length === 0 ? { owner, repository } : undefined;
}
