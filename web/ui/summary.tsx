/** What failed on a commit in one sentence, as the service and its gate say it. */
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Query } from '../api/client.ts';
import { commitQuery, type RepositoryPath } from '../api/queries.ts';

interface SummaryProps {
  path: RepositoryPath;
  commit: string;
  /** Only failures of some runs, as in `…/commits/{commit_sha}/failures`. */
  only?: Query;
}

/** Its line is there before it is known, so that nothing jumps. */
export function Summary({ path, commit, only = {} }: SummaryProps) {
  const { data } = useInfiniteQuery({ ...commitQuery(path, commit, only), refetchInterval: 15_000 });
  const first = data?.pages[0]?.body;
  const summary = first?.summary ?? null;
  return (
    <p role="status" className={`min-h-6 text-base font-medium ${toneOf(first?.verdicts)}`}>
      {summary}
    </p>
  );
}

/** Red is for what needs the author. */
const toneOf = (verdicts: Readonly<Record<string, number>> | undefined): string =>
  (verdicts?.new ?? 0) > 0 ? 'text-broken' : 'text-ink';
