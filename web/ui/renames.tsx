/** Names that tests had before, each with its reasons, and what may be decided about it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { renamesDecided } from '../api/changes.ts';
import { decideRename, type Rename, type RepositoryPath } from '../api/queries.ts';
import { Time } from './time.tsx';

const REASONS: Record<Rename['reasons'][number], string> = {
  same_commit: 'one ended where the other began',
  same_history: 'the framework says that it is the same',
  same_name: 'the same name in another place',
  same_file: 'the same file',
  same_place: 'the same class or suite',
  similar_name: 'most words are the same',
  moved_together: 'others moved with it',
  same_rows: 'the same rows of data',
};

const TITLES: Record<Rename['state'], string> = {
  proposed: 'Perhaps renamed',
  accepted: 'Renamed',
  rejected: 'Not renamed',
  undone: 'No longer renamed',
};

const DECISIONS = {
  proposed: [
    ['accepted', 'Accept'],
    ['rejected', 'Reject'],
  ],
  accepted: [['undone', 'Undo']],
  rejected: [['accepted', 'Accept']],
  undone: [['accepted', 'Accept']],
} as const satisfies Record<Rename['state'], readonly (readonly [string, string])[]>;

interface Props {
  path: RepositoryPath;
  renames: readonly Rename[];
  mayChange: boolean;
}

export function Renames({ path, renames, mayChange }: Props) {
  const client = useQueryClient();
  const isMoving = renames.some((one) => !one.is_applied);
  const wasMoving = useRef(isMoving);
  useEffect(() => {
    if (wasMoving.current && !isMoving) void renamesDecided(client);
    wasMoving.current = isMoving;
  }, [isMoving, client]);
  return (
    <ul>
      {renames.map((one) => (
        <Row key={one.id} path={path} rename={one} mayChange={mayChange} />
      ))}
    </ul>
  );
}

function Row({ path, rename, mayChange }: { path: RepositoryPath; rename: Rename; mayChange: boolean }) {
  const client = useQueryClient();
  const { owner, repository } = path;
  const decide = useMutation({
    mutationFn: (state: 'accepted' | 'rejected' | 'undone') => decideRename(path, rename.id, state),
    onSettled: () => renamesDecided(client),
  });
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1 border-t border-line px-4 py-2.5 first:border-0">
      <div className="flex min-w-0 flex-1 basis-64 flex-col gap-1">
        <p className="break-words">
          <span className="font-medium">{TITLES[rename.state]}:</span>{' '}
          <Link to="/$owner/$repository/tests/$testId" params={{ owner, repository, testId: rename.test_id }}>
            {rename.test_name}
          </Link>{' '}
          →{' '}
          <Link to="/$owner/$repository/tests/$testId" params={{ owner, repository, testId: rename.new_test_id }}>
            {rename.new_name}
          </Link>
        </p>
        <p className="text-xs text-soft">
          {rename.confidence !== null && `${Math.round(rename.confidence * 100)}% sure: `}
          {rename.reasons.map((reason) => REASONS[reason]).join(', ')}
          {rename.decided_at !== null && (
            <>
              {rename.reasons.length > 0 && ' · '}
              {rename.state} by {rename.decided_by} <Time at={rename.decided_at} />
            </>
          )}
          {!rename.is_applied && ' · being applied …'}
          {rename.has_failed && ' · could not be applied'}
        </p>
        {decide.error && (
          <p role="alert" className="text-broken">
            {decide.error.message}
          </p>
        )}
      </div>
      {mayChange &&
        DECISIONS[rename.state].map(([state, verb]) => (
          <button
            key={state}
            type="button"
            className="button h-7"
            aria-label={`${verb}: ${rename.test_name} is now ${rename.new_name}`}
            disabled={decide.isPending || !rename.is_applied}
            onClick={() => decide.mutate(state)}
          >
            {verb}
          </button>
        ))}
    </li>
  );
}
