/** Uploads of a repository or of all, the newest first, and a filter for those that people should look at. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { type RepositoryPath, uploadsQuery } from '../api/queries.ts';
import { PagedList } from './paged-list.tsx';
import { Empty } from './states.tsx';
import { UploadRow } from './upload-row.tsx';

interface UploadListProps {
  /** Undefined: of every repository. */
  path: RepositoryPath | undefined;
  /** Whether each row names its repository. */
  isOfMany: boolean;
  isProblemOnly: boolean;
}

export function Uploads({ path, isOfMany, isProblemOnly }: UploadListProps) {
  const found = useInfiniteQuery({
    ...uploadsQuery(path, { has_problems: isProblemOnly || undefined }),
    refetchInterval: 5_000,
    placeholderData: (before) => before,
  });
  const uploads = found.data?.pages.flatMap(({ body }) => body.uploads) ?? [];
  return (
    <section aria-label="Uploads" className={`card overflow-hidden ${found.isPlaceholderData ? 'opacity-60' : ''}`}>
      <PagedList
        found={found}
        rows={uploads}
        older="Older uploads"
        empty={
          <Empty title={isProblemOnly ? 'No upload had problems' : 'Nothing was uploaded'}>
            <p>
              Uploads of the last 30 days{path && ` to ${path.owner}/${path.repository}`} appear once a worker has taken
              them, and at once if they were refused.
            </p>
          </Empty>
        }
      >
        {(upload) => (
          <UploadRow key={`${upload.id} ${upload.owner}/${upload.repository}`} upload={upload} isOfMany={isOfMany} />
        )}
      </PagedList>
    </section>
  );
}

interface ProblemFilterProps {
  isSet: boolean;
  onChange: (isSet: true | undefined) => void;
}

export const ProblemFilter = ({ isSet, onChange }: ProblemFilterProps) => (
  <label className="flex items-center gap-2">
    <input
      type="checkbox"
      className="size-4 accent-accent"
      checked={isSet}
      onChange={(event) => onChange(event.target.checked || undefined)}
    />
    Only with problems
  </label>
);
