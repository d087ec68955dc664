/** The uploads of a repository, also refused ones: where people look when their results do not appear. */
import { getRouteApi } from '@tanstack/react-router';
import { useTitle } from '../ui/title.ts';
import { Uploads as List, ProblemFilter } from '../ui/upload-list.tsx';

const route = getRouteApi('/signed/$owner/$repository/uploads');

export function Uploads() {
  const { owner, repository } = route.useParams();
  const { problems } = route.useSearch();
  const navigate = route.useNavigate();
  useTitle('Uploads');
  return (
    <>
      <h1 className="sr-only">Uploads</h1>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <ProblemFilter
          isSet={problems ?? false}
          onChange={(isSet) => void navigate({ search: (before) => ({ ...before, problems: isSet }), replace: true })}
        />
      </div>
      <List path={{ owner, repository }} isOfMany={false} isProblemOnly={problems ?? false} />
    </>
  );
}
