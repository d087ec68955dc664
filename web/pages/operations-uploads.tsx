/** The newest uploads with their receipts: what became of each, and why rows were rejected. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { UploadList } from '../../src/ingest/receipts.ts';
import { uploadsQuery } from '../api/queries.ts';
import { formatCount } from '../ui/format.ts';
import { PagedList } from '../ui/paged-list.tsx';
import { repositoryIn } from '../ui/repository-text.ts';
import { SearchField } from '../ui/search-field.tsx';
import { Empty } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { Unfolding } from '../ui/unfolding.tsx';

const route = getRouteApi('/signed/operations');
type Upload = UploadList['uploads'][number];

export function Uploads() {
  const { repository, rejected } = route.useSearch();
  const navigate = route.useNavigate();
  const path = repositoryIn(repository);
  const found = useInfiniteQuery({
    ...uploadsQuery(path, { has_rejections: rejected }),
    refetchInterval: 5_000,
    placeholderData: (before) => before,
  });
  const onSearch = useCallback(
    (text: string) =>
      void navigate({ search: (before) => ({ ...before, repository: text || undefined }), replace: true }),
    [navigate],
  );
  const uploads = found.data?.pages.flatMap(({ body }) => body.uploads) ?? [];
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField
          label="Repository"
          placeholder="Every repository, or owner/name"
          value={repository ?? ''}
          onSearch={onSearch}
        />
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={rejected ?? false}
            onChange={(event) =>
              void navigate({
                search: (before) => ({ ...before, rejected: event.target.checked || undefined }),
                replace: true,
              })
            }
          />
          Only with rejected rows
        </label>
      </div>
      <section aria-label="Uploads" className={`card overflow-hidden ${found.isPlaceholderData ? 'opacity-60' : ''}`}>
        <PagedList
          found={found}
          rows={uploads}
          older="Older uploads"
          empty={
            <Empty title={rejected ? 'No row was rejected' : 'Nothing was uploaded'}>
              <p>
                Uploads of the last 30 days{path && ` to ${path.owner}/${path.repository}`} appear once a worker has
                taken them.
              </p>
            </Empty>
          }
        >
          {(upload) => <Row key={`${upload.id} ${upload.owner}/${upload.repository}`} upload={upload} />}
        </PagedList>
      </section>
    </>
  );
}

const COLOURS: Record<Upload['status'], string> = {
  stored: 'text-healthy',
  queued: 'text-soft',
  failed: 'text-broken',
};

function Row({ upload }: { upload: Upload }) {
  const { owner, repository, rejected } = upload;
  return (
    <li className="border-b border-line last:border-0">
      <Unfolding
        grid="grid grid-cols-[4rem_minmax(0,1fr)_6.5rem] items-baseline gap-x-3 sm:grid-cols-[4rem_minmax(0,1fr)_minmax(0,1fr)_6.5rem]"
        summary={
          <>
            <span className={`text-xs font-medium ${COLOURS[upload.status]}`}>{upload.status}</span>
            <span className="truncate font-medium">
              {owner}/{repository}
            </span>
            <span className="truncate text-soft max-sm:col-span-2 max-sm:col-start-2 max-sm:row-start-2">
              {rejected > 0 && <span className="font-medium text-broken">{formatCount(rejected)} rejected · </span>}
              {countsOf(upload)}
            </span>
            <span className="text-right text-soft">
              <Time at={upload.received_at} />
            </span>
          </>
        }
      >
        {() => (
          <div className="flex flex-col gap-3 px-4 pb-3">
            {upload.failure !== null && <p className="break-words text-broken">{upload.failure}</p>}
            {upload.rejections.map(({ reason, count, examples }) => (
              <div key={reason}>
                <p className="break-words">
                  <span className="font-medium text-broken">{formatCount(count)} rejected:</span> {reason}
                </p>
                {examples.length > 0 && (
                  <ul className="ml-4 list-disc text-xs text-soft">
                    {examples.map((example, i) => (
                      // biome-ignore lint/suspicious/noArrayIndexKey: two may be the same when shortened
                      <li key={i} className="break-all">
                        {example}
                      </li>
                    ))}
                  </ul>
                )}
              </div>
            ))}
            {upload.warnings.map((warning) => (
              <p key={warning} className="break-words text-flaky">
                {warning}
              </p>
            ))}
            <p className="flex flex-wrap gap-x-4 text-xs text-soft">
              <span>
                received <Time at={upload.received_at} isWhole />
              </span>
              {upload.stored_at !== null && (
                <span>
                  stored <Time at={upload.stored_at} isWhole />
                </span>
              )}
              <code className="font-mono break-all">{upload.id}</code>
              <Link to="/$owner/$repository/tests" params={{ owner, repository }}>
                Open {owner}/{repository}
              </Link>
            </p>
          </div>
        )}
      </Unfolding>
    </li>
  );
}

function countsOf({ accepted, duplicate, on_default_branch: onDefault }: Upload): string {
  if (accepted === null) return 'being stored';
  const parts = [`${formatCount(accepted)} new`];
  if (duplicate) parts.push(`${formatCount(duplicate)} known already`);
  if (accepted > 0 && onDefault === 0) parts.push('not on the default branch');
  return parts.join(' · ');
}
