/** Quarantines that end within two weeks, and those that could be released. */
import { Link } from '@tanstack/react-router';
import type { QuarantineListAnswer } from '../../src/quarantines/schemas.ts';
import type { RepositoryPath } from '../api/queries.ts';
import { formatCounted } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { Time } from '../ui/time.tsx';

type Quarantine = QuarantineListAnswer['quarantined_tests'][number];
const SOON_MS = 14 * 86_400_000;
const SHOWN = 8;

interface EndingsProps {
  path: RepositoryPath;
  quarantines: readonly Quarantine[];
}

/** Those that end within two weeks, the next one first. */
const endingSoon = <T extends Pick<Quarantine, 'expires_at'>>(quarantines: readonly T[], now: number): T[] =>
  quarantines
    .filter(({ expires_at: end }) => end !== null && Date.parse(end) - now <= SOON_MS)
    .sort((one, other) => Date.parse(one.expires_at ?? '') - Date.parse(other.expires_at ?? ''));

export function Endings({ path, quarantines }: EndingsProps) {
  const ending = endingSoon(quarantines, Date.now());
  const recovered = quarantines.filter(({ is_recovered: isRecovered }) => isRecovered).length;
  return (
    <Section title="Quarantines" aside={`${formatCounted(quarantines.length, 'quarantine')} in all`}>
      {ending.length === 0 && <p className="px-4 py-2 text-soft">None ends in the next 14 days.</p>}
      <ul>
        {ending.slice(0, SHOWN).map((one) => (
          <li key={one.id} className="flex items-baseline gap-3 border-b border-line px-4 py-2 last:border-0">
            <Link
              to="/$owner/$repository/quarantines"
              params={path}
              search={{ q: one.test_name }}
              className="min-h-6 min-w-0 flex-1 break-words text-ink"
            >
              {one.test_name}
            </Link>
            <span className="shrink-0 text-xs text-soft">
              {one.owner !== null && `${one.owner} · `}ends {one.expires_at !== null && <Time at={one.expires_at} />}
            </span>
          </li>
        ))}
      </ul>
      {(ending.length > SHOWN || recovered > 0) && (
        <p className="flex flex-wrap gap-x-4 border-t border-line px-4 py-2 text-xs">
          {ending.length > SHOWN && (
            <Link to="/$owner/$repository/quarantines" params={path} search={{ sort: 'end' }} className="underline">
              All {ending.length} that end soon
            </Link>
          )}
          {recovered > 0 && (
            <Link
              to="/$owner/$repository/quarantines"
              params={path}
              search={{ show: 'recovered' }}
              className="underline"
            >
              {formatCounted(recovered, 'quarantine')} of recovered tests
            </Link>
          )}
        </p>
      )}
    </Section>
  );
}
