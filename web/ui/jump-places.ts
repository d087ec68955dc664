/** The places that a text may mean: what is sure first, then what the service finds. */
import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import type { LinkProps } from '@tanstack/react-router';
import {
  causesQuery,
  firstRepositoriesQuery,
  ownersQuery,
  pullQuery,
  pullsQuery,
  type RepositoryPath,
  runsQuery,
} from '../api/queries.ts';
import { savedViewsQuery } from '../api/saved-views.ts';
import { testsViewQuery } from '../api/views.ts';
import { TABS } from './tabs.tsx';
import { viewLink } from './view-link.ts';

export interface Place {
  key: string;
  kind: string;
  label: string;
  link: Pick<LinkProps, 'to' | 'params' | 'search'>;
}

const EACH_MAX = 5;
const NOWHERE: RepositoryPath = { owner: '', repository: '' };

/** @param path the repository that one is in; null: none */
export function usePlaces(path: RepositoryPath | null, text: string): { places: Place[]; isWaiting: boolean } {
  const isAsked = path !== null && text.length > 1;
  const within = path ?? NOWHERE;
  const repositories = useQuery(firstRepositoriesQuery);
  const runs = useInfiniteQuery({ ...runsQuery(within, {}), enabled: path !== null });
  const views = useQuery({ ...savedViewsQuery(within), enabled: path !== null });
  const tests = useInfiniteQuery({ ...testsViewQuery(within, { q: text }), enabled: isAsked });
  const pulls = useInfiniteQuery({ ...pullsQuery(within, { q: text, state: 'all' }), enabled: isAsked });
  const causes = useInfiniteQuery({ ...causesQuery(within, { q: text, sort: 'newest' }), enabled: isAsked });
  const owners = useInfiniteQuery({ ...ownersQuery(within), enabled: path !== null });
  // From outside of a repository, a number is looked for in those with the most trouble.
  const number = path === null ? numberIn(text) : undefined;
  const looked = number === undefined ? [] : (repositories.data?.repositories.slice(0, EACH_MAX) ?? []);
  const numbered = useQueries({
    queries: looked.map(({ owner, repository }) => pullQuery({ owner, repository }, number ?? '')),
  });
  const sought = text.toLowerCase();
  const has = (name: string): boolean => name.toLowerCase().includes(sought);
  const ran = runs.data?.pages[0]?.body.runs ?? [];
  const places = [
    ...(path === null ? [] : exactPlaces(path, text)),
    ...looked.flatMap(({ owner, repository }, i) => {
      const found = numbered[i]?.data;
      if (!found || number === undefined) return [];
      const place = pullPlace({ owner, repository }, number, found.title);
      return [{ ...place, key: `${place.key} ${owner}/${repository}`, label: `${owner}/${repository} ${place.label}` }];
    }),
    ...(path === null ? [] : pullPlaces(path, pulls.data?.pages[0]?.body.pulls ?? [])),
    ...(path === null ? [] : commitPlaces(path, sought, ran)),
    ...(path === null ? [] : branchPlaces(path, text, ran)),
    ...(path === null || !isAsked ? [] : testPlaces(path, tests.data?.pages[0]?.body.tests ?? [])),
    ...(path === null || !isAsked ? [] : causePlaces(path, causes.data?.pages[0]?.body.causes ?? [])),
    ...(path === null || !isAsked
      ? []
      : ownerPlaces(
          path,
          (owners.data?.pages[0]?.body.owners ?? []).filter(({ owner }) => has(owner)),
        )),
    ...(path === null
      ? []
      : (views.data?.views ?? [])
          .filter(({ name }) => has(name))
          .slice(0, EACH_MAX)
          .map((view): Place => ({ key: `v ${view.id}`, kind: 'View', label: view.name, link: viewLink(path, view) }))),
    ...(path === null
      ? []
      : TABS.filter(([, label]) => has(label)).map(([to, label]) => pagePlace(label, { to, params: path }))),
    ...(repositories.data?.repositories ?? [])
      .filter((one) => text !== '' && has(`${one.owner}/${one.repository}`))
      .slice(0, EACH_MAX)
      .map(({ owner, repository }): Place => {
        const name = `${owner}/${repository}`;
        return {
          key: `r ${name}`,
          kind: 'Repository',
          label: name,
          link: { to: '/$owner/$repository', params: { owner, repository } },
        };
      }),
    ...(has('Repositories') ? [pagePlace('Repositories', { to: '/' })] : []),
  ];
  // The same place may be found in two ways: it keeps its place, and the label that says more.
  const once = new Map<string, Place>();
  for (const place of places)
    if (place.label.length > (once.get(place.key)?.label.length ?? 0)) once.set(place.key, place);
  const isWaiting =
    repositories.isPending ||
    (isAsked && [tests, pulls, causes, owners].some(({ isPending }) => isPending)) ||
    numbered.some((one) => one.isPending);
  return { places: [...once.values()], isWaiting };
}

const pagePlace = (label: string, link: Place['link']): Place => ({ key: `p ${label}`, kind: 'Page', label, link });

const pullPlace = (path: RepositoryPath, number: string, title: string | null): Place => ({
  key: `n ${number}`,
  kind: 'Pull request',
  label: title === null ? `#${number}` : `#${number} ${title}`,
  link: { to: '/$owner/$repository/pulls/$number', params: { ...path, number } },
});

const commitPlace = (path: RepositoryPath, commit: string): Place => ({
  key: `c ${commit}`,
  kind: 'Commit',
  label: commit,
  link: { to: '/$owner/$repository/commits/$commit', params: { ...path, commit } },
});

const numberIn = (text: string): string | undefined => /^#?([1-9]\d{0,9})$/.exec(text)?.[1];

/** What can only be a number or a whole hash is offered without asking. */
function exactPlaces(path: RepositoryPath, text: string): Place[] {
  const number = numberIn(text);
  const hash = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.exec(text)?.[0];
  return [
    ...(number === undefined ? [] : [pullPlace(path, number, null)]),
    ...(hash === undefined ? [] : [commitPlace(path, hash.toLowerCase())]),
  ];
}

const pullPlaces = (
  path: RepositoryPath,
  pulls: readonly { number: number; title: string | null; head_ref: string | null }[],
) =>
  pulls
    .slice(0, EACH_MAX)
    .map(({ number, title, head_ref: branch }) => pullPlace(path, String(number), title ?? branch));

interface Ran {
  commit_sha: string | null;
  branch: string | null;
}

/** Among the newest runs, by how the hash begins. */
function commitPlaces(path: RepositoryPath, sought: string, ran: readonly Ran[]): Place[] {
  if (sought.length < 4) return [];
  const commits = ran.flatMap(({ commit_sha: commit }) => (commit?.toLowerCase().startsWith(sought) ? [commit] : []));
  return [...new Set(commits)].slice(0, EACH_MAX).map((commit) => commitPlace(path, commit));
}

function branchPlaces(path: RepositoryPath, text: string, ran: readonly Ran[]): Place[] {
  if (text === '') return [];
  const sought = text.toLowerCase();
  const branches = ran.flatMap(({ branch }) => (branch?.toLowerCase().includes(sought) ? [branch] : []));
  return [...new Set(branches)].slice(0, EACH_MAX).map((branch) => ({
    key: `b ${branch}`,
    kind: 'Branch',
    label: branch,
    link: { to: '/$owner/$repository/runs', params: path, search: { branch } },
  }));
}

/** A test that ran in several places is one. */
function testPlaces(path: RepositoryPath, tests: readonly { test_id: string; test_name: string }[]): Place[] {
  const names = new Map(tests.map(({ test_id: id, test_name: name }) => [id, name]));
  return [...names].slice(0, EACH_MAX).map(([testId, label]) => ({
    key: `t ${testId}`,
    kind: 'Test',
    label,
    link: { to: '/$owner/$repository/tests/$testId', params: { ...path, testId } },
  }));
}

/** What has failed with such a message. */
const causePlaces = (
  path: RepositoryPath,
  causes: readonly { cause_id: string; exception_type: string; exception_message: string }[],
): Place[] =>
  causes.slice(0, EACH_MAX).map(({ cause_id: cause, exception_type: type, exception_message: message }) => ({
    key: `m ${cause}`,
    kind: 'Message',
    label: message || type || 'No message',
    link: { to: '/$owner/$repository/causes/$cause', params: { ...path, cause } },
  }));

const ownerPlaces = (path: RepositoryPath, owners: readonly { owner: string }[]): Place[] =>
  owners.slice(0, EACH_MAX).map(({ owner }) => ({
    key: `o ${owner}`,
    kind: 'Owner',
    label: owner,
    link: { to: '/$owner/$repository/tests', params: path, search: { ownedBy: owner } },
  }));
