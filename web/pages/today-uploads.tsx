/** Uploads with problems: why results may be missing. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type RepositoryPath, uploadsQuery } from '../api/queries.ts';
import { Section } from '../ui/section.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { UploadRow } from '../ui/upload-row.tsx';

const SHOWN = 5;
const REFETCH_MS = 60_000;

export function UploadTrouble({ path }: { path: RepositoryPath }) {
  const found = useInfiniteQuery({ ...uploadsQuery(path, { has_problems: true }), refetchInterval: REFETCH_MS });
  const uploads = found.data?.pages.flatMap(({ body }) => body.uploads) ?? [];
  return (
    <Section title="Uploads with problems" aside="in the last 30 days">
      {found.isPending && <Loading rows={2} />}
      {found.error && <Failed error={found.error} reset={() => void found.refetch()} />}
      {found.isSuccess && uploads.length === 0 && <p className="px-4 py-2 text-soft">None.</p>}
      <ul>
        {uploads.slice(0, SHOWN).map((upload) => (
          <UploadRow key={upload.id} upload={upload} isOfMany={false} />
        ))}
      </ul>
      {uploads.length > SHOWN && (
        <p className="border-t border-line px-4 py-2 text-xs">
          <Link to="/$owner/$repository/uploads" params={path} search={{ problems: true }} className="underline">
            All of them
          </Link>
        </p>
      )}
    </Section>
  );
}
