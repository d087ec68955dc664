/** What a policy of automatic quarantine would have done: one asks for a replay, and sees what it found. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { FormEvent, ReactNode } from 'react';
import type { BacktestAnswer } from '../../src/quarantines/backtests.ts';
import { backtestsChanged } from '../api/changes.ts';
import { backtestQuery, type RepositoryPath, requestBacktest, sessionQuery } from '../api/queries.ts';
import { Commit } from '../ui/commit.tsx';
import { formatCount, formatCounted, formatSeconds, formatShare } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { formatUtcDay } from '../ui/utc.ts';
import { Backtests } from './backtest-list.tsx';
import { type FormValues, LEVELS, policyOf, valuesOf } from './backtest-policy.ts';

const route = getRouteApi('/signed/$owner/$repository/quarantines/backtest');
type Report = NonNullable<BacktestAnswer['report']>;
const REFETCH_MS = 2_000;
const HOUR_SECONDS = 3_600;

export function BacktestPage() {
  const path = route.useParams();
  const { id } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  useTitle('Backtest');
  const { data: session } = useQuery(sessionQuery);
  const found = useQuery({
    ...backtestQuery(path, id ?? ''),
    enabled: id !== undefined,
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? REFETCH_MS : false),
  });
  const asked = useMutation({
    mutationFn: (form: FormData) => requestBacktest(path, policyOf(form)),
    onSuccess: (backtest) => {
      void backtestsChanged(client);
      void navigate({ search: (before) => ({ ...before, id: backtest.id }) });
    },
  });
  const mayAsk = session !== undefined && session?.scope !== 'view';
  return (
    <div className="flex flex-col gap-5">
      <header>
        <Link to="/$owner/$repository/quarantines" params={path} className="text-xs">
          ← Quarantine
        </Link>
        <h1 className="mt-1 text-lg font-semibold">Backtest of automatic quarantine</h1>
        <p className="mt-1 text-soft">
          Replays a policy on what is retained: what it would have quarantined, which red runs it would have spared, and
          what it would have hidden. It changes nothing.
        </p>
      </header>
      {mayAsk && (id === undefined || !found.isPending) && (
        <Form
          // One that is opened again is asked for with its own levels.
          key={found.data?.id}
          values={valuesOf(found.data?.policy, Date.now())}
          isBusy={asked.isPending || found.data?.status === 'running'}
          error={asked.error}
          onAsk={(form) => asked.mutate(form)}
        />
      )}
      {id !== undefined && found.isPending && <Loading rows={6} />}
      {found.error && <Failed error={found.error} reset={() => void found.refetch()} />}
      {found.data && <Result path={path} backtest={found.data} />}
      <Backtests path={path} open={id} />
    </div>
  );
}

interface FormProps {
  values: FormValues;
  isBusy: boolean;
  error: Error | null;
  onAsk: (form: FormData) => void;
}

function Form({ values, isBusy, error, onAsk }: FormProps) {
  const ask = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    onAsk(new FormData(event.currentTarget));
  };
  return (
    <Section title="Policy">
      <form onSubmit={ask} className="grid gap-4 p-4 sm:grid-cols-2 lg:grid-cols-4">
        <Field label="Quarantines">
          <select name="mode" defaultValue={values.mode} className="field w-full font-normal">
            <option value="flaky">Flaky tests</option>
            <option value="flaky+broken">Flaky and broken tests</option>
          </select>
        </Field>
        <Field label="Switched on (UTC day)">
          <input name="since" type="date" required defaultValue={values.since} className="field w-full font-normal" />
        </Field>
        {LEVELS.map(({ name, label, min, max, step }) => (
          <Field key={name} label={label}>
            <input
              name={name}
              type="number"
              required
              defaultValue={values.levels[name]}
              min={min}
              max={max}
              step={step}
              className="field w-full font-normal"
            />
          </Field>
        ))}
        <label className="flex items-center gap-2 sm:col-span-2">
          <input name="narrowed" type="checkbox" defaultChecked={values.isNarrowed} /> Only failures of the kinds that
          decided, not every failure
        </label>
        <div className="flex items-center gap-3 sm:col-span-2 lg:col-span-4">
          <button type="submit" className="button button-primary" disabled={isBusy}>
            {isBusy ? 'It runs …' : 'Start'}
          </button>
          {error && (
            <p role="alert" className="text-broken">
              {error.message}
            </p>
          )}
        </div>
      </form>
    </Section>
  );
}

const Field = ({ label, children }: { label: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is its child
  <label className="flex flex-col gap-1 font-medium">
    {label}
    {children}
  </label>
);

function Result({ path, backtest }: { path: RepositoryPath; backtest: BacktestAnswer }) {
  const { status, tests, tests_replayed: replayed, report, policy } = backtest;
  if (status === 'failed')
    return (
      <div className="card">
        <Empty title="The backtest failed">
          <p>Start it again. The log of the workers says why.</p>
        </Empty>
      </div>
    );
  if (report === null)
    return (
      <Section title="It runs">
        <p role="status" className="flex items-center gap-3 p-4">
          <progress max={Math.max(1, tests)} value={replayed} aria-label="Tests that were replayed" />
          {tests === 0
            ? 'It waits for a worker.'
            : `${formatCount(replayed)} of ${formatCounted(tests, 'test')} replayed.`}
        </p>
      </Section>
    );
  return (
    <>
      <Section
        title="What it would have done"
        aside={`${policy.auto_quarantine}, from ${formatUtcDay(Date.parse(policy.since))} to ${formatUtcDay(Date.parse(report.until))}`}
      >
        <Figures report={report} />
      </Section>
      <Quarantined path={path} report={report} />
      <Hidden path={path} report={report} />
    </>
  );
}

function Figures({ report }: { report: Report }) {
  const { red_runs: red, red_runs_spared: spared, default_branch_red_runs: main } = report;
  const shareOf = (some: number, all: number): string => (all === 0 ? '' : `${formatShare(some / all)} of them`);
  return (
    <>
      <dl className="grid grid-cols-2 gap-4 px-4 py-3 lg:grid-cols-5">
        <Figure name="Tests quarantined" value={report.quarantines_count}>
          at most {formatCount(report.quarantines_at_once)} at once
        </Figure>
        <Figure name="Red runs" value={red}>
          on any branch
        </Figure>
        <Figure name="Of these, spared" value={spared}>
          {shareOf(spared, red)}
        </Figure>
        <Figure name="Spared on the default branch" value={report.default_branch_red_runs_spared}>
          of {formatCount(main)}
        </Figure>
        <Figure name="Regressions hidden" value={report.hidden_regressions_count}>
          failures that were a change's
        </Figure>
      </dl>
      <p className="border-t border-line px-4 py-2 text-soft">
        {formatCounted(report.tests, 'test')} replayed, those in which something went wrong. {formatCount(red - spared)}{' '}
        red runs would have stayed red.
        {!report.is_complete && ' Of some tests, only the newest executions were considered.'}
      </p>
    </>
  );
}

const Figure = ({ name, value, children }: { name: string; value: number; children: ReactNode }) => (
  <div>
    <dt className="text-xs text-soft">{name}</dt>
    <dd className="text-xl font-semibold tabular-nums">{formatCount(value)}</dd>
    <dd className="text-xs text-soft">{children}</dd>
  </div>
);

const ROW = 'flex flex-wrap items-baseline gap-x-4 gap-y-1 border-b border-line px-4 py-2 last:border-0';

function Quarantined({ path, report }: { path: RepositoryPath; report: Report }) {
  const { quarantines, quarantines_count: count } = report;
  return (
    <Section title="Quarantined" aside={listed(quarantines.length, count)}>
      {count === 0 && <Empty title="No test would have been quarantined" />}
      <ul>
        {quarantines.map((one) => (
          <li key={`${one.test_id} ${one.quarantined_at}`} className={ROW}>
            <span className="min-w-0 flex-1 basis-80">
              <Test path={path} test={one} />
              <span className="block text-soft">{one.reason}</span>
            </span>
            <span className="text-xs text-soft">
              from <Time at={one.quarantined_at} isWhole />, for {formatSeconds(one.hours * HOUR_SECONDS)}
              {one.recovered_at === null && ', not recovered'}
            </span>
            <span className="w-full text-xs text-soft sm:w-44 sm:text-right">
              spared {formatCounted(one.spared_red_runs, 'red run')}
              {one.hidden_regressions > 0 && (
                <span className="block text-broken">hid {formatCounted(one.hidden_regressions, 'regression')}</span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Hidden({ path, report }: { path: RepositoryPath; report: Report }) {
  const { hidden_regressions: regressions, hidden_regressions_count: count } = report;
  return (
    <Section title="Hidden regressions" aside={listed(regressions.length, count)}>
      {count === 0 && <Empty title="It would have hidden no regression" />}
      <ul>
        {regressions.map((one) => (
          <li key={`${one.test_id} ${one.first_failed_at} ${one.job_name}`} className={ROW}>
            <span className="min-w-0 flex-1 basis-80">
              <Test path={path} test={one} />
              <span className="block text-soft">
                {one.pipeline_name} · {one.job_name}: {one.kind === 'new_failure' ? 'a new failure' : 'it lasted'}, on{' '}
                {formatCounted(one.commits, 'commit')}
              </span>
            </span>
            <span className="text-xs text-soft">
              from <Time at={one.first_failed_at} isWhole />{' '}
              {one.commit !== null && <Commit path={path} commit={one.commit} />}
              {one.fixed_at === null ? ', not fixed' : ', fixed '}
              {one.fixed_at !== null && <Time at={one.fixed_at} isWhole />}{' '}
              {one.fixed_by !== null && <Commit path={path} commit={one.fixed_by} />}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const listed = (shown: number, all: number): string =>
  shown < all ? `${formatCount(shown)} of ${formatCount(all)}` : formatCount(all);

const Test = ({ path, test }: { path: RepositoryPath; test: { test_id: string; test_name: string } }) => (
  <Link
    to="/$owner/$repository/tests/$testId"
    params={{ ...path, testId: test.test_id }}
    className="block min-h-6 font-medium break-words text-ink"
  >
    {test.test_name}
  </Link>
);
