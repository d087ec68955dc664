/** For those who operate the service: what could not be stored, and who and what has access. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { KeyList } from '../../src/access/keys.ts';
import { BASE } from '../api/client.ts';
import {
  deadLettersQuery,
  keysQuery,
  makeKey,
  replayDeadLetter,
  revokeKey,
  revokeSession,
  sessionsQuery,
} from '../api/queries.ts';
import { Secret } from '../ui/secret.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';

type Key = KeyList['keys'][number];

export function Operations() {
  useTitle('Operations');
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-wrap items-baseline gap-4">
        <h1 className="text-lg font-semibold">Operations</h1>
        <nav aria-label="More" className="ml-auto flex gap-4">
          <a href={`${BASE}/admin/queues`}>Queues</a>
          <a href={`${BASE}/healthz/ready`}>Health</a>
          <a href={`${BASE}/metrics`}>Metrics</a>
        </nav>
      </div>
      <DeadLetters />
      <Keys />
      <Sessions />
    </div>
  );
}

/** Shown only when there are any: then they come first. */
function DeadLetters() {
  const { data, error, refetch } = useQuery(deadLettersQuery);
  if (error) return <Failed error={error} reset={() => void refetch()} />;
  if (!data || data.total === 0) return null;
  const { dead_letters: letters, total } = data;
  return (
    <section aria-label="Dead letters" className="card">
      <h2 className="border-b border-line px-4 py-2 font-semibold">Dead letters: {total}</h2>
      <p className="border-b border-line px-4 py-2 text-soft">
        Jobs that no retry can help. Remove the cause, then replay them.
        {total > letters.length && ` The oldest ${letters.length} are shown; the command dead-letters has all.`}
      </p>
      <ul>
        {letters.map((letter) => (
          <Row
            key={letter.id}
            title={`${letter.queue} ${letter.job_id}`}
            about={letter.reason}
            end={() => replayDeadLetter(letter.id)}
            verb="Replay"
            queryKey={deadLettersQuery.queryKey}
          >
            since <Time at={letter.created_at} />
          </Row>
        ))}
      </ul>
    </section>
  );
}

function Keys() {
  const { data, error, refetch, isPending } = useQuery(keysQuery);
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
          <select name="scope" className="field" defaultValue="ci">
            <option value="ci">ci: upload, read, quarantine</option>
            <option value="view">view: read everything</option>
            <option value="admin">admin: everything</option>
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
          <Row
            key={key.id}
            title={key.name}
            about={`${key.scope}, ${repositoriesOf(key)}`}
            end={() => revokeKey(key.id)}
            verb="Revoke"
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
          </Row>
        ))}
      </ul>
    </section>
  );
}

const SCOPES = ['ci', 'view', 'admin'] as const;
const isWorking = ({ revoked_at: revoked, expires_at: expires }: Key): boolean =>
  revoked === null && (expires === null || Date.parse(expires) > Date.now());
const repositoriesOf = ({ owner, repositories }: Pick<Key, 'owner' | 'repositories'>): string =>
  owner === null ? 'every owner' : repositories ? repositories.map((name) => `${owner}/${name}`).join(', ') : owner;

function Sessions() {
  const { data, error, refetch, isPending } = useQuery(sessionsQuery);
  return (
    <section aria-label="Sessions" className="card">
      <h2 className="border-b border-line px-4 py-2 font-semibold">Sessions of browsers</h2>
      {isPending && <Loading rows={3} />}
      {error && <Failed error={error} reset={() => void refetch()} />}
      {data?.sessions.length === 0 && <Empty title="No one is signed in" />}
      <ul>
        {data?.sessions.map((session) => (
          <Row
            key={session.id}
            title={session.actor}
            about={`${session.scope ?? ''}, ${repositoriesOf(session)}`}
            end={() => revokeSession(session.id)}
            verb="End"
            queryKey={sessionsQuery.queryKey}
          >
            used <Time at={session.last_used_at} />, ends <Time at={session.expires_at} />
          </Row>
        ))}
      </ul>
    </section>
  );
}

const Field = ({ label, children }: { label: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is what it is given
  <label className="flex flex-col gap-1 text-xs text-soft">
    {label}
    {children}
  </label>
);

interface RowProps {
  title: string;
  about: string;
  end: () => Promise<unknown>;
  verb: string;
  queryKey: readonly string[];
  children: ReactNode;
}

function Row({ title, about, end, verb, queryKey, children }: RowProps) {
  const client = useQueryClient();
  const ending = useMutation({ mutationFn: end, onSettled: () => client.invalidateQueries({ queryKey }) });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2 last:border-0">
      <span className="min-w-0 truncate font-medium">{title}</span>
      <span className="min-w-0 break-words text-soft">{about}</span>
      <span className="ml-auto text-xs text-soft">{children}</span>
      <button
        type="button"
        className="button h-7"
        aria-label={`${verb} ${title}`}
        disabled={ending.isPending}
        onClick={() => ending.mutate()}
      >
        {verb}
      </button>
      {ending.error && (
        <p role="alert" className="basis-full text-broken">
          {ending.error.message}
        </p>
      )}
    </li>
  );
}
