/** Signing in with an application key, or with the identity provider if there is one. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { BASE, PROVIDER } from '../api/client.ts';
import { viewOf } from '../api/lost-session.ts';
import { sessionQuery, signIn } from '../api/queries.ts';
import { Mark } from '../ui/frame.tsx';

const route = getRouteApi('/sign-in');

export function SignIn() {
  const { to = '/' } = route.useSearch();
  const router = useRouter();
  const client = useQueryClient();
  const view = viewOf(to);
  const entering = useMutation({
    mutationFn: signIn,
    onSuccess: ({ body }) => {
      // The kept answers may be those of someone else.
      client.clear();
      client.setQueryData(sessionQuery.queryKey, body);
      router.history.replace(router.options.basepath + view);
    },
  });
  // A link that signs in once has its pass behind the `#`, which browsers keep to themselves.
  const { mutate } = entering;
  useEffect(() => {
    const pass = window.location.hash.slice(1);
    if (!pass.startsWith('cip_')) return;
    window.history.replaceState(null, '', window.location.pathname + window.location.search);
    mutate(pass);
  }, [mutate]);
  return (
    <main id="content" className="mx-auto flex min-h-screen max-w-sm flex-col justify-center gap-5 px-4 py-10">
      <h1 className="flex items-center gap-2 text-xl font-semibold">
        <Mark /> ci-insights
      </h1>
      {PROVIDER && (
        <a
          href={`${BASE}/sign-in/oidc?${new URLSearchParams({ to: view })}`}
          className="button button-primary justify-center hover:no-underline"
        >
          Sign in with {PROVIDER}
        </a>
      )}
      <form
        className="card flex flex-col gap-3 p-5"
        onSubmit={(event) => {
          event.preventDefault();
          const key = new FormData(event.currentTarget).get('key');
          if (typeof key === 'string' && key.trim() !== '') entering.mutate(key.trim());
        }}
      >
        <label className="flex flex-col gap-1.5 font-medium">
          Application key
          <input
            name="key"
            type="password"
            autoComplete="current-password"
            required
            // biome-ignore lint/a11y/noAutofocus: without a provider the page has nothing else to do
            autoFocus={PROVIDER === undefined}
            spellCheck={false}
            className="field font-mono"
            placeholder="cii_…"
            aria-describedby="key-help"
          />
        </label>
        {entering.error && (
          <p role="alert" className="text-broken">
            {entering.error.message}
          </p>
        )}
        <button type="submit" className="button button-primary justify-center" disabled={entering.isPending}>
          {entering.isPending ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
      <p id="key-help" className="text-soft">
        An operator makes a key for you with{' '}
        <code className="font-mono break-words">ci-insights keys create --owner acme --scope view</code>. On your own
        machine, the first key is in <code className="font-mono">.data/admin.key</code>.
      </p>
    </main>
  );
}
