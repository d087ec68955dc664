/** The newest uploads of every repository, or of one, for those who operate the service. */
import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import { repositoryIn } from '../ui/repository-text.ts';
import { SearchField } from '../ui/search-field.tsx';
import { Uploads as List, ProblemFilter } from '../ui/upload-list.tsx';

const route = getRouteApi('/signed/operations');

export function Uploads() {
  const { repository, problems } = route.useSearch();
  const navigate = route.useNavigate();
  const onSearch = useCallback(
    (text: string) =>
      void navigate({ search: (before) => ({ ...before, repository: text || undefined }), replace: true }),
    [navigate],
  );
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField
          label="Repository"
          placeholder="Every repository, or owner/name"
          value={repository ?? ''}
          onSearch={onSearch}
        />
        <ProblemFilter
          isSet={problems ?? false}
          onChange={(isSet) => void navigate({ search: (before) => ({ ...before, problems: isSet }), replace: true })}
        />
      </div>
      <List path={repositoryIn(repository)} isOfMany isProblemOnly={problems ?? false} />
    </>
  );
}
