/** Page of a repository without results of its default branch: how to send the first, and what else has arrived. */
import type { RepositoryPath } from '../api/queries.ts';
import { useTitle } from '../ui/title.ts';
import { ImportHistory } from './import-history.tsx';
import { Recipes } from './recipes.tsx';
import { SetupSteps } from './setup-steps.tsx';

export function FirstReport(path: RepositoryPath) {
  const { owner, repository } = path;
  useTitle(`${owner}/${repository}`);
  return (
    <div className="mx-auto max-w-2xl py-6">
      <h1 className="mb-1 text-lg font-semibold break-words">
        {owner}/{repository} has not sent results from its default branch
      </h1>
      <p className="mb-4 text-soft">Waiting for the first report. This page changes with it.</p>
      <SetupSteps path={path} />
      <div className="mt-6">
        <ImportHistory path={path} />
      </div>
      <h2 className="mt-6 mb-3 font-semibold">What CI needs</h2>
      <Recipes path={path} />
    </div>
  );
}
