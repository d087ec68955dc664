/** Who and what has access: application keys, and the sessions of browsers. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { KeyList } from '../../src/access/keys.ts';
import { keysQuery, makeKey, revokeKey, revokeSession, sessionsQuery } from '../api/queries.ts';
import { ActionRow } from '../ui/action-row.tsx';
import { Field } from '../ui/field.tsx';
import { Secret } from '../ui/secret.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';

type Key = KeyList['keys'][number];
const REFRESH_MS = 15_000;

export function Access() {
  // Sessions come below the keys, whose number is not known before.
  const { isPending } = useQuery(keysQuery);
  return (
    <div className="flex flex-col gap-5">
      <Keys />
      {!isPending && <Sessions />}
    </div>
  );
}

function Keys() {
  const { data, error, refetch, isPending } = useQuery({ ...keysQuery, refetchInterval: REFRESH_MS });
  const client = useQueryClient();
  const making = useMutation({
    mutationFn: makeKey,
    onSuccess: () => client.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
  const working = data?.keys.filter(isWorking).toReversed() ?? [];
  return (
    <section aria-label="Application keys" className="card">
      <h2 className="border-b border-line px-4 py-2 font-semibold">Application keys</h2>
      <form
        className="flex flex-wrap items-end gap-3 border-b border-line px-4 py-3"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const days = String(form.get('days') ?? '');
          making.mutate({
            name: String(form.get('name') ?? '').trim(),
            scope: SCOPES.find((scope) => scope === form.get('scope')) ?? 'view',
            pull_requests_only: form.get('reports') === 'pull requests',
            owner: String(form.get('owner') ?? '').trim() || null,
            expires_in_days: days === '' ? null : Number(days),
          });
        }}
      >
        <Field label="Name">
          <input name="name" required maxLength={255} className="field" placeholder="shop CI" />
        </Field>
        <Field label="Owner">
          <input name="owner" className="field" placeholder="Every owner" />
        </Field>
        <Field label="Scope">
          <select name="scope" className="field" defaultValue="view">
            <option value="view">view: read everything</option>
            <option value="upload">upload: upload and read</option>
            <option value="ci">ci: upload, read, quarantine</option>
            <option value="admin">admin: everything</option>
          </select>
        </Field>
        <Field label="Its reports">
          <select name="reports" className="field" defaultValue="any">
            <option value="any">of any branch</option>
            <option value="pull requests">of pull requests only (scope upload)</option>
          </select>
        </Field>
        <Field label="Expires">
          <select name="days" className="field" defaultValue="365">
            <option value="30">in 30 days</option>
            <option value="90">in 90 days</option>
            <option value="365">in a year</option>
            <option value="">never</option>
          </select>
        </Field>
        <button type="submit" className="button button-primary" disabled={making.isPending}>
          {making.isPending ? 'Making …' : 'Make a key'}
        </button>
        {making.error && (
          <p role="alert" className="basis-full text-broken">
            {making.error.message}
          </p>
        )}
        {making.data && <Secret token={making.data.body.token} />}
      </form>
      {isPending && <Loading rows={3} />}
      {error && <Failed error={error} reset={() => void refetch()} />}
      <ul>
        {working.map((key) => (
          <ActionRow
            key={key.id}
            title={key.name}
            about={`${key.scope}${boundsOf(key)}, ${repositoriesOf(key)}`}
            verb="Revoke"
            act={() => revokeKey(key.id)}
            queryKey={keysQuery.queryKey}
          >
            {key.last_used_at === null ? (
              'never used'
            ) : (
              <>
                used <Time at={key.last_used_at} />
              </>
            )}
            {key.expires_at !== null && (
              <>
                , expires <Time at={key.expires_at} />
              </>
            )}
          </ActionRow>
        ))}
      </ul>
    </section>
  );
}

const SCOPES = ['view', 'upload', 'ci', 'admin'] as const;
const boundsOf = ({ pull_requests_only: pulls, branches }: Pick<Key, 'pull_requests_only' | 'branches'>): string =>
  pulls ? ' for pull requests only' : branches ? ` for ${branches.join(', ')}` : '';
const isWorking = ({ revoked_at: revoked, expires_at: expires }: Key): boolean =>
  revoked === null && (expires === null || Date.parse(expires) > Date.now());
const repositoriesOf = ({ owner, repositories }: Pick<Key, 'owner' | 'repositories'>): string =>
  owner === null ? 'every owner' : repositories ? repositories.map((name) => `${owner}/${name}`).join(', ') : owner;

function Sessions() {
  const { data, error, refetch, isPending } = useQuery({ ...sessionsQuery, refetchInterval: REFRESH_MS });
  return (
    <section aria-label="Sessions" className="card">
      <h2 className="border-b border-line px-4 py-2 font-semibold">Sessions of browsers</h2>
      {isPending && <Loading rows={3} />}
      {error && <Failed error={error} reset={() => void refetch()} />}
      {data?.sessions.length === 0 && <Empty title="No one is signed in" />}
      <ul>
        {data?.sessions.map((session) => (
          <ActionRow
            key={session.id}
            title={session.actor}
            about={`${session.scope ?? ''}, ${repositoriesOf(session)}`}
            verb="End"
            act={() => revokeSession(session.id)}
            queryKey={sessionsQuery.queryKey}
          >
            used <Time at={session.last_used_at} />, ends <Time at={session.expires_at} />
          </ActionRow>
        ))}
      </ul>
    </section>
  );
}
