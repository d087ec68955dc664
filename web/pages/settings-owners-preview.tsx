/** What changed rules of owners would do: how many tests each of them gets, and whose tests would be others'. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { OwnerRule } from '../../src/domain/owner-rules.ts';
import type { OwnersPreviewAnswer } from '../../src/insights/owner-preview.ts';
import { ownersPreviewQuery, type RepositoryPath } from '../api/queries.ts';
import { formatCount, formatCounted } from '../ui/format.ts';
import { useSettled } from '../ui/settled.ts';

/** Long enough to not ask for every letter. */
const PAUSE_MS = 300;
const SHOWN = 10;

export interface OwnersPreview {
  /** Undefined: not asked, or not known yet. */
  data: OwnersPreviewAnswer | undefined;
  error: Error | null;
  /** Whether it is about the rules as they are typed now. */
  isCurrent: boolean;
}

/**
 * @param rules the same from render to render until they change
 * @param isAsked whether they differ from those that are saved
 */
export function useOwnersPreview(path: RepositoryPath, rules: readonly OwnerRule[], isAsked: boolean): OwnersPreview {
  const settled = useSettled(rules, PAUSE_MS);
  // One that was only just added names nothing yet.
  const isWhole = settled.every(({ test_name: name, file }) => name !== undefined || file !== undefined);
  const { data, error } = useQuery({ ...ownersPreviewQuery(path, settled), enabled: isAsked && isWhole });
  return { data: isAsked ? data : undefined, error: isAsked ? error : null, isCurrent: settled === rules };
}

/** What one rule does, in words. */
export function reachInWords({ matches, tests }: OwnersPreviewAnswer['rules'][number]): string {
  if (matches === 0) return 'It matches no test.';
  if (tests === matches) return `It is for ${formatCounted(tests, 'test')}.`;
  const later = `later rules win for ${tests === 0 ? 'all' : formatCount(matches - tests)} of ${formatCounted(matches, 'test')} that it matches`;
  return tests === 0 ? `It is for no test: ${later}.` : `It is for ${formatCounted(tests, 'test')}; ${later}.`;
}

/** The tests that would have other owners. */
export function OwnerChanges({ path, preview }: { path: RepositoryPath; preview: OwnersPreview }) {
  const { data, error, isCurrent } = preview;
  if (error)
    return (
      <p role="alert" className="border-t border-line px-4 py-2 text-broken">
        What the rules would do is not known: {error.message}
      </p>
    );
  if (!data) return null;
  const { changed_tests: changed, changes, tests } = data;
  const more = changed - Math.min(SHOWN, changes.length);
  return (
    <section aria-label="Preview" aria-busy={!isCurrent} className="border-t border-line px-4 py-3">
      <p role="status" className="font-medium">
        {changed === 0
          ? `No test of ${formatCount(tests)} would change its owners.`
          : `${formatCount(changed)} of ${formatCounted(tests, 'test')} would change their owners:`}
      </p>
      <ul className="mt-1">
        {changes.slice(0, SHOWN).map((one) => (
          <li key={one.test_id} className="flex flex-wrap gap-x-3 py-0.5">
            <Link
              to="/$owner/$repository/tests/$testId"
              params={{ ...path, testId: one.test_id }}
              className="min-h-6 min-w-0 break-words text-ink"
            >
              {one.test_name}
            </Link>
            <span className="min-w-0 break-words text-soft">
              {ownersInWords(one.owners_before)} → {ownersInWords(one.owners_after)}
            </span>
          </li>
        ))}
      </ul>
      {more > 0 && <p className="text-soft">… and {formatCounted(more, 'more', 'more')}</p>}
    </section>
  );
}

const ownersInWords = (owners: readonly string[]): string => (owners.length === 0 ? 'no owner' : owners.join(', '));
