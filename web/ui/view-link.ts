/** Where a saved view leads, and whether an address shows it. */
import type { RepositoryPath } from '../api/queries.ts';
import type { SavedView } from '../api/saved-views.ts';

type Shown = Pick<SavedView, 'page' | 'query'>;

export const viewLink = ({ owner, repository }: RepositoryPath, { page, query }: Shown) => ({
  to: `/$owner/$repository/${page}` as const,
  params: { owner, repository },
  search: Object.fromEntries(new URLSearchParams(query)),
});

/** The order of the parameters does not matter. */
export const isSameView = (one: Shown, other: Shown): boolean =>
  one.page === other.page && inOrder(one.query) === inOrder(other.query);

function inOrder(query: string): string {
  const parameters = new URLSearchParams(query);
  parameters.sort();
  return parameters.toString();
}
