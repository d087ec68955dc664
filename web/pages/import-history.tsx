/** Imports the history of a repository from its host: the token, how far it is, and what was taken. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { RepositoryImportState } from '../../src/imports/routes.ts';
import { cancelImport, importQuery, startImport } from '../api/imports.ts';
import type { RepositoryPath } from '../api/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { Field } from '../ui/field.tsx';
import { formatCount, formatCounted, formatSeconds } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { Failed, Loading } from '../ui/states.tsx';

type Import = NonNullable<RepositoryImportState['import']>;

const DAY_MS = 86_400_000;
const DAYS = ['30', '90', '180', '365'] as const;
const DAYS_DEFAULT = '90';

export function ImportHistory({ path }: { path: RepositoryPath }) {
  const { data, error, refetch } = useQuery(importQuery(path));
  if (!data) return error ? <Failed error={error} reset={() => void refetch()} /> : <Loading rows={3} />;
  if (data.hosts.length === 0) return null;
  const { import: last, hosts } = data;
  return (
    <Section title="Import its history" aside={last && SAID[last.status]}>
      {last?.status === 'running' ? (
        <Running path={path} running={last} />
      ) : (
        <>
          {last?.receipt && <Receipt receipt={last.receipt} />}
          {last && !last.receipt && (
            <p className="px-4 pt-3 break-words" role={last.status === 'failed' ? 'alert' : undefined}>
              {last.failure ?? `${formatCount(last.progress.executions)} executions were imported so far.`} Enter the
              token again to continue.
            </p>
          )}
          <StartForm path={path} hosts={hosts} last={last} />
        </>
      )}
    </Section>
  );
}

const SAID: Record<Import['status'], string> = {
  running: 'running',
  finished: 'finished',
  failed: 'failed',
  cancelled: 'cancelled',
  interrupted: 'interrupted, because the service was stopped',
};

/** Null for an empty field, and for one that is not there. */
const wordOf = (value: FormDataEntryValue | null): string | null =>
  typeof value === 'string' ? value.trim() || null : null;

interface StartFormProps {
  path: RepositoryPath;
  hosts: RepositoryImportState['hosts'];
  last: Import | null;
}

function StartForm({ path, hosts, last }: StartFormProps) {
  const client = useQueryClient();
  const [host, setHost] = useState(last?.host ?? hosts[0]?.name);
  const [days, setDays] = useState<(typeof DAYS)[number] | undefined>(DAYS_DEFAULT);
  const isContinued = last !== null && last.status !== 'finished';
  const starting = useMutation({
    mutationFn: ({ token, source }: { token: string; source: string | null }) => {
      const since = new Date(Date.now() - Number(days ?? DAYS_DEFAULT) * DAY_MS).toISOString();
      return startImport(path, {
        host: host ?? '',
        source: isContinued ? last.source : source,
        token,
        since: isContinued ? null : since,
      });
    },
    onSuccess: ({ body }) => client.setQueryData(importQuery(path).queryKey, body),
  });
  const chosen = hosts.find(({ name }) => name === host);
  return (
    <form
      className="flex flex-wrap items-end gap-3 px-4 py-3"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        const [token, source] = [wordOf(fields.get('token')), wordOf(fields.get('source'))];
        if (token !== null) starting.mutate({ token, source });
      }}
    >
      <Field label="From">
        <Choice label="From" value={host} options={hosts.map(({ name }) => [name, name] as const)} onChoose={setHost} />
      </Field>
      {!isContinued && (
        <Field label="Repository there">
          <input
            key={host}
            name="source"
            required
            spellCheck={false}
            className="field w-56 font-mono"
            defaultValue={last?.host === host ? last?.source : chosen?.source}
          />
        </Field>
      )}
      {!isContinued && (
        <Field label="The last">
          <Choice
            label="The last"
            value={days}
            options={DAYS.map((one) => [one, `${one} days`] as const)}
            onChoose={setDays}
          />
        </Field>
      )}
      <Field label="Token of the host">
        <input
          name="token"
          type="password"
          required
          autoComplete="off"
          spellCheck={false}
          className="field w-64 font-mono"
          aria-describedby="import-token-help"
        />
      </Field>
      <button type="submit" className="button button-primary" disabled={starting.isPending}>
        {isContinued ? 'Continue the import' : 'Import'}
      </button>
      <p id="import-token-help" className="basis-full text-xs text-soft">
        {chosen?.token_needs} It is kept in memory until the import ends, and nowhere else.
      </p>
      {starting.error && (
        <p role="alert" className="basis-full text-broken">
          {starting.error.message}
        </p>
      )}
    </form>
  );
}

function Running({ path, running: { source, host, progress } }: { path: RepositoryPath; running: Import }) {
  const client = useQueryClient();
  const cancelling = useMutation({
    mutationFn: () => cancelImport(path),
    onSuccess: ({ body }) => client.setQueryData(importQuery(path).queryKey, body),
  });
  return (
    <div className="flex flex-col gap-2 px-4 py-3">
      <p className="break-words">
        Reading {source} at {host}: {wordsOf(progress)}.
      </p>
      <progress
        aria-label="How much of the time is imported"
        value={progress.share}
        className="h-2 w-full appearance-none overflow-hidden rounded bg-raised [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-raised [&::-webkit-progress-value]:bg-accent"
      />
      {progress.waiting_for !== null && <p className="text-soft">Waiting: {progress.waiting_for}.</p>}
      <div className="flex flex-wrap items-center gap-3">
        <p className="text-soft">You may leave this page. What is imported shows as it comes.</p>
        <button
          type="button"
          className="button ml-auto"
          disabled={cancelling.isPending}
          onClick={() => cancelling.mutate()}
        >
          Cancel
        </button>
      </div>
    </div>
  );
}

const wordsOf = ({ reports, executions, seconds_left: left }: Import['progress']): string =>
  [
    formatCounted(reports, 'report'),
    formatCounted(executions, 'execution'),
    ...(left === null ? [] : [`about ${formatSeconds(left)} left`]),
  ].join(', ');

function Receipt({ receipt }: { receipt: NonNullable<Import['receipt']> }) {
  const { reports, executions, pull_requests: pulls, left_out: leftOut, rejections } = receipt;
  return (
    <div className="border-b border-line px-4 py-3">
      <p>
        {formatCount(reports.stored + reports.queued)} reports with {formatCount(executions.accepted)} new executions,
        and {formatCount(pulls)} pull requests.{' '}
        {executions.duplicate > 0 && `${formatCount(executions.duplicate)} were known.`}
      </p>
      <Reasons title="Reports left out" reasons={leftOut} />
      <Reasons title="Results refused" reasons={rejections} />
    </div>
  );
}

function Reasons({ title, reasons }: { title: string; reasons: NonNullable<Import['receipt']>['left_out'] }) {
  if (reasons.length === 0) return null;
  return (
    <details className="mt-2">
      <summary className="cursor-pointer">
        {title}: {formatCount(reasons.reduce((sum, { count }) => sum + count, 0))}
      </summary>
      <ul className="mt-1 flex flex-col gap-1 text-soft">
        {reasons.map(({ reason, count, examples }) => (
          <li key={reason} className="break-words">
            {formatCount(count)}: {reason}, such as {examples.join('; ')}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** On the home of a repository, while its history comes in: pages are read again with it. */
export function ImportBanner({ path }: { path: RepositoryPath }) {
  const { data } = useQuery(importQuery(path));
  const client = useQueryClient();
  const running = data?.import?.status === 'running' ? data.import : undefined;
  const executions = running?.progress.executions;
  useEffect(() => {
    if (executions === undefined) return;
    const timer = setTimeout(
      () => void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'import' }),
      REREAD_MS,
    );
    return () => clearTimeout(timer);
  }, [executions, client]);
  if (!running) return null;
  return (
    <p className="mb-4 rounded-md border border-line bg-card px-4 py-2" role="status">
      Its history is being imported: {wordsOf(running.progress)}.{' '}
      <Link to="/$owner/$repository/setup" params={path}>
        Follow it
      </Link>
    </p>
  );
}

const REREAD_MS = 3_000;
