/** Links to the repository's host: its commits, files and pull requests. Nothing where the host is not known. */
import { useQuery } from '@tanstack/react-query';
import { Outlet, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RepositoryHost } from '../../src/insights/host.ts';
import { hostQuery, type RepositoryPath } from '../api/queries.ts';
import { fillTemplate } from './host-link.ts';
import { Loading } from './states.tsx';

type Kind = keyof NonNullable<RepositoryHost['links']>;

interface HostLinkProps {
  path: RepositoryPath;
  to: Kind;
  values: Readonly<Record<string, string | number>>;
  /** What is linked to, such as "Commit 1a2b": read out, and shown as a hint. */
  label: string;
  /** Absent: an arrow, beside a link to the page here. */
  children?: ReactNode;
  /** Shown where the host is not known. */
  otherwise?: ReactNode;
}

/** The pages of a repository, once its host is known: links that came later would move what is beside them. */
export function InRepository() {
  const path = useParams({ from: '/signed/$owner/$repository' });
  // Once is enough: a link within asks again for what could not be read.
  const { isFetched } = useQuery(hostQuery(path));
  return isFetched ? <Outlet /> : <Loading />;
}

function HostLink({ path: { owner, repository }, to, values, label, children, otherwise }: HostLinkProps) {
  const { data: host } = useQuery(hostQuery({ owner, repository }));
  const href = host?.links && fillTemplate(host.links[to], values);
  if (!href || !host?.url) return otherwise;
  const name = `${label} on ${URL.parse(host.url)?.host}`;
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer"
      data-hint={name}
      aria-label={name}
      className={
        children === undefined
          ? '-my-1 inline-flex size-6 items-center justify-center align-middle no-underline'
          : 'underline'
      }
    >
      {children ?? <span aria-hidden="true">↗</span>}
    </a>
  );
}

export const HostCommit = ({ path, commit }: { path: RepositoryPath; commit: string }) => (
  <HostLink path={path} to="commit" values={{ commit }} label={`Commit ${commit.slice(0, 10)}`} />
);

export const HostPull = ({ path, number }: { path: RepositoryPath; number: number }) => (
  <HostLink path={path} to="pull_request" values={{ number }} label={`Pull request ${number}`} />
);

interface CompareProps {
  path: RepositoryPath;
  from: string | null;
  to: string | null;
}

/** What changed between two commits. */
export const Compare = ({ path, from, to }: CompareProps) =>
  from === null || to === null ? null : (
    <HostLink
      path={path}
      to="compare"
      values={{ from, to }}
      label={`Compare ${from.slice(0, 10)} with ${to.slice(0, 10)}`}
    >
      compare
    </HostLink>
  );

interface FileProps {
  path: RepositoryPath;
  /** Absent: as it is on the default branch now. */
  commit?: string | null;
  file: string;
  /** From 1. */
  line?: number | null | undefined;
}

/** A file by its path in the repository, as a link to it. */
export function File({ path, commit, file, line }: FileProps) {
  const { data: host } = useQuery(hostQuery({ owner: path.owner, repository: path.repository }));
  const name = line ? `${file}:${line}` : file;
  const at = commit ?? host?.default_branch;
  // A path on a machine is not in the repository.
  if (!at || /^[/\\]|^\w:|\\|\.\.\//.test(file)) return name;
  return (
    <HostLink
      path={path}
      to={line ? 'line' : 'file'}
      values={{ commit: at, path: file.replace(/^\.\//, ''), line: line ?? '' }}
      label={name}
      otherwise={name}
    >
      {name}
    </HostLink>
  );
}
