/** Page on which the setting-up of a repository is followed: its steps, and the recipe of each CI. */
import { useParams } from '@tanstack/react-router';
import { useTitle } from '../ui/title.ts';
import { ImportHistory } from './import-history.tsx';
import { Recipes } from './recipes.tsx';
import { SetupSteps } from './setup-steps.tsx';

export function SetupPage() {
  const path = useParams({ from: '/signed/$owner/$repository/setup' });
  const { owner, repository } = path;
  useTitle(`Set up ${owner}/${repository}`);
  return (
    <div className="mx-auto max-w-2xl">
      <h1 className="mb-4 text-lg font-semibold break-words">
        Set up {owner}/{repository}
      </h1>
      <SetupSteps path={path} />
      <div className="mt-6">
        <ImportHistory path={path} />
      </div>
      <h2 className="mt-6 mb-3 font-semibold">What CI needs</h2>
      <Recipes path={path} />
    </div>
  );
}
