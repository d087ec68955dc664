/** What can be done with all chosen quarantines at once: change what was agreed on them, or release them. */
import { useState } from 'react';
import type { Quarantine, RepositoryPath } from '../api/queries.ts';
import { formatCount } from '../ui/format.ts';
import { useQuarantineDeeds } from './quarantine-deeds.ts';
import { EditQuarantines } from './quarantine-edit.tsx';

interface BulkProps {
  path: RepositoryPath;
  chosen: readonly Quarantine[];
  /** Called with those that were released. */
  onDone: (ids: readonly string[]) => void;
}

export function Bulk({ path, chosen, onDone }: BulkProps) {
  const [isEditing, setEditing] = useState(false);
  const { releaseAll, isPending } = useQuarantineDeeds(path, onDone);
  const count = chosen.length > 0 ? ` ${formatCount(chosen.length)}` : '';
  return (
    <div className="flex flex-wrap items-center gap-2">
      <button type="button" className="button" disabled={count === ''} onClick={() => setEditing(true)}>
        Change{count} …
      </button>
      <button
        type="button"
        className="button"
        disabled={count === '' || isPending}
        onClick={() => void releaseAll(chosen)}
      >
        {isPending ? 'Releasing …' : `Release${count}`}
      </button>
      {isEditing && <EditQuarantines path={path} quarantines={chosen} onClose={() => setEditing(false)} />}
    </div>
  );
}
