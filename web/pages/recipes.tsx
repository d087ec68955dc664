/** How CI sends the reports of a repository, to copy: with the identity tokens of its jobs where it has them, else with a key. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { BASE } from '../api/client.ts';
import { makeKey, type RepositoryPath, sessionQuery, setupQuery } from '../api/queries.ts';
import { Copy } from '../ui/copy.tsx';
import { Secret } from '../ui/secret.tsx';
import { type Recipe, recipesOf } from './first-report-recipes.ts';

/** Such an address leads to the machine of the browser only. */
const isLocal = (hostname: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);

export function Recipes({ path }: { path: RepositoryPath }) {
  const { owner, repository } = path;
  const { ci } = useSearch({ strict: false });
  const recipes = recipesOf({ repository: `${owner}/${repository}`, origin: window.location.origin + BASE });
  const [chosen, choose] = useState(ci);
  const recipe = recipes.find((one) => one.ci === chosen) ?? recipes[0];
  const [usesKey, setUsesKey] = useState(false);
  if (!recipe) return null;
  return (
    <ol className="flex flex-col gap-4">
      <li className="card flex flex-col gap-3 px-4 py-3">
        <Toggles
          legend="Choose your CI"
          options={recipes.map((one) => one.ci)}
          chosen={recipe.ci}
          onChoose={(one) => choose(one)}
        />
        {recipe.identity && (
          <Toggles
            legend="How its jobs say who they are"
            options={[WITH_TOKEN, WITH_KEY]}
            chosen={usesKey ? WITH_KEY : WITH_TOKEN}
            onChoose={(one) => setUsesKey(one === WITH_KEY)}
          />
        )}
        {isLocal(window.location.hostname) && (
          <p className="text-soft">
            Only this machine reaches {window.location.host}. For CI elsewhere, start the service where CI reaches it,
            and open this page there.
          </p>
        )}
      </li>
      {recipe.identity && !usesKey ? (
        <WithToken path={path} ci={recipe.ci} identity={recipe.identity} />
      ) : (
        <WithKey path={path} recipe={recipe} />
      )}
    </ol>
  );
}

const WITH_TOKEN = 'Identity token: no secret to keep';
const WITH_KEY = 'Key';
const REPORTS = 'for the JUnit reports in the folder “reports”';

interface TogglesProps {
  legend: string;
  options: readonly string[];
  chosen: string;
  onChoose: (option: string) => void;
}

const Toggles = ({ legend, options, chosen, onChoose }: TogglesProps) => (
  <fieldset className="flex flex-wrap gap-2">
    <legend className="mb-2 font-medium">{legend}</legend>
    {options.map((option) => (
      <button
        key={option}
        type="button"
        aria-pressed={option === chosen}
        className="button h-7 px-2 text-xs aria-pressed:border-accent aria-pressed:bg-accent aria-pressed:text-white"
        onClick={() => onChoose(option)}
      >
        {option}
      </button>
    ))}
  </fieldset>
);

interface WithTokenProps {
  path: RepositoryPath;
  ci: string;
  identity: NonNullable<Recipe['identity']>;
}

function WithToken({ path, ci, identity }: WithTokenProps) {
  const { data: setup } = useQuery(setupQuery(path));
  if (!setup) return null;
  return (
    <>
      {setup.identity_tokens.includes(identity.kind) ? (
        <li className="card px-4 py-3">
          <span className="font-semibold text-healthy" aria-hidden="true">
            ✓
          </span>{' '}
          The service takes identity tokens of {ci} for this repository.
        </li>
      ) : (
        <Step title="Start the service with">{identity.settings}</Step>
      )}
      <Step title={`${identity.place}, ${REPORTS}`} hint={identity.hint}>
        {identity.code}
      </Step>
    </>
  );
}

/** A key, and where it goes. */
function WithKey({ path, recipe }: { path: RepositoryPath; recipe: Recipe }) {
  const { owner, repository } = path;
  const { data: session } = useQuery(sessionQuery);
  const making = useMutation({
    mutationFn: () => makeKey({ name: `${repository} CI`, scope: 'upload', owner, repositories: [repository] }),
  });
  const token = making.data?.body.token;
  const place = `Give it to CI as a secret. ${recipe.secret}.`;
  return (
    <>
      {session?.is_operator ? (
        <li className="card flex flex-wrap items-center gap-3 px-4 py-3">
          <span className="font-medium">Make a key for its CI</span>
          <button
            type="button"
            className="button button-primary ml-auto"
            disabled={making.isPending || token !== undefined}
            onClick={() => making.mutate()}
          >
            {token === undefined ? 'Make a key' : 'Made'}
          </button>
          {token !== undefined && <Secret token={token} />}
          {making.error && (
            <p role="alert" className="basis-full text-broken">
              {making.error.message}
            </p>
          )}
          <p className="basis-full text-soft">{place}</p>
        </li>
      ) : (
        <Step title="Make a key for CI, where the service runs" hint={place}>
          {`ci-insights keys create --owner ${owner} --repository ${repository} --scope upload`}
        </Step>
      )}
      <Step title={`${recipe.place}, ${REPORTS}`} hint={recipe.hint}>
        {recipe.code}
      </Step>
    </>
  );
}

function Step({ title, hint, children }: { title: string; hint?: string | undefined; children: string }) {
  return (
    <li className="card overflow-hidden">
      <div className="flex items-center gap-3 border-b border-line px-4 py-2">
        <span className="min-w-0 font-medium break-words">{title}</span>
        <Copy text={children} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways */}
      <pre tabIndex={0} className="overflow-x-auto px-4 py-3 font-mono text-xs leading-5">
        {children}
      </pre>
      {hint !== undefined && <p className="border-t border-line px-4 py-2 text-xs text-soft">{hint}</p>}
    </li>
  );
}
