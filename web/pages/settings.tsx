/** The settings of a repository: what `ci-insights repos set` changes. Whoever sees the repository may look at them. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type {
  AutoQuarantineMode,
  QUARANTINE_LIMIT_MAX,
  QUARANTINE_WARNING_DAYS_MAX,
} from '../../src/domain/quarantine-rules.ts';
import type { RULE_CONFIDENCE_MIN } from '../../src/domain/rename-decisions.ts';
import type {
  EVENT_RETENTION_DAYS_MAX,
  FORGET_TESTS_AFTER_DAYS_MIN,
  PRICE_MAX,
} from '../../src/domain/repository-settings.ts';
import type { RERUN_PERCENT_MAX } from '../../src/domain/rerun-plan.ts';
import type { RepositorySettingsAnswer, SettingsChange } from '../../src/operate/repository-settings.ts';
import { type RepositoryPath, sessionQuery, settingsQuery } from '../api/queries.ts';
import { Field } from '../ui/field.tsx';
import { Section } from '../ui/section.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { useTitle } from '../ui/title.ts';
import { Deletion } from './settings-deletion.tsx';
import { Forgetting } from './settings-forgetting.tsx';
import { HostFields, hostPageIn, isSameHost } from './settings-host.tsx';
import { OwnerRules } from './settings-owners.tsx';
import { RenamedTests } from './settings-renames.tsx';
import { useSaving } from './settings-saving.ts';

const route = getRouteApi('/signed/$owner/$repository/settings');

/** The bounds of the domain. A page imports no code of the service, so the compiler compares each with its constant. */
const MAX = {
  quarantine_limit: 100_000 satisfies typeof QUARANTINE_LIMIT_MAX,
  quarantine_warning_days: 90 satisfies typeof QUARANTINE_WARNING_DAYS_MAX,
  rerun_percent: 100 satisfies typeof RERUN_PERCENT_MAX,
  event_retention_days: 36_500 satisfies typeof EVENT_RETENTION_DAYS_MAX,
  price: 100_000 satisfies typeof PRICE_MAX,
};
const RULE_CONFIDENCE = 0.9 satisfies typeof RULE_CONFIDENCE_MIN;
const MIN = { forget_tests_after_days: 60 satisfies typeof FORGET_TESTS_AFTER_DAYS_MIN };
/** Tests that each mode quarantines. */
const AUTO_QUARANTINE: Record<AutoQuarantineMode, string> = {
  off: 'off',
  flaky: 'of flaky tests',
  'flaky+broken': 'of flaky and broken tests',
};
const isMode = (text: string): text is AutoQuarantineMode => Object.hasOwn(AUTO_QUARANTINE, text);

export function Settings() {
  const path = route.useParams();
  useTitle(`Settings of ${path.owner}/${path.repository}`);
  return (
    <div className="flex flex-col gap-5">
      <h1 className="sr-only">Settings</h1>
      <Loaded key={`${path.owner}/${path.repository}`} path={path} />
    </div>
  );
}

function Loaded({ path }: { path: RepositoryPath }) {
  const { data, error, refetch, isPending } = useQuery(settingsQuery(path));
  const session = useQuery(sessionQuery);
  if (isPending) return <Loading rows={12} />;
  if (error) return <Failed error={error} reset={() => void refetch()} />;
  const mayChange = session.data?.scope === 'admin';
  return (
    <>
      {!mayChange && (
        <p className="text-soft">You may look at the settings. To change them takes a key with the scope admin.</p>
      )}
      <Section title="Settings">
        <Form path={path} data={data} mayChange={mayChange} />
      </Section>
      <OwnerRules key={JSON.stringify(data.test_owners)} path={path} rules={data.test_owners} mayChange={mayChange} />
      <div id="renamed-tests" className="scroll-mt-4">
        <RenamedTests path={path} />
      </div>
      {mayChange && <Forgetting path={path} />}
      {mayChange && <Deletion path={path} />}
    </>
  );
}

const SOURCES: Record<NonNullable<RepositorySettingsAnswer['default_branch_source']>, string> = {
  guess: 'The first of main and master that appeared.',
  payload: 'Uploads say so.',
  host: 'The repository host says so.',
  setting: 'Set by an operator.',
};

interface FormProps {
  path: RepositoryPath;
  data: RepositorySettingsAnswer;
  mayChange: boolean;
}

function Form({ path, data, mayChange }: FormProps) {
  const saving = useSaving(path);
  return (
    <form
      aria-label={`Settings of ${path.owner}/${path.repository}`}
      // The fields begin with the saved values.
      key={JSON.stringify(data)}
      onSubmit={(event) => {
        event.preventDefault();
        const change = changeIn(new FormData(event.currentTarget), data);
        if (Object.keys(change).length > 0) saving.mutate(change);
      }}
    >
      <fieldset disabled={!mayChange} className="grid gap-x-8 gap-y-4 px-4 py-4 sm:grid-cols-2">
        <legend className="sr-only">Settings</legend>
        <Field
          label="Default branch"
          hint={data.default_branch_source === null ? 'Not known yet.' : SOURCES[data.default_branch_source]}
        >
          <input name="default_branch" maxLength={255} className="field" defaultValue={data.default_branch ?? ''} />
        </Field>
        <Field label="Flaky detection" hint="Off: no execution is judged flaky.">
          <select name="flaky_detection_enabled" className="field" defaultValue={String(data.flaky_detection_enabled)}>
            <option value="true">on</option>
            <option value="false">off</option>
          </select>
        </Field>
        <Field label="Automatic quarantine" hint="Of tests with enough evidence.">
          <select name="auto_quarantine" className="field" defaultValue={data.auto_quarantine}>
            {Object.entries(AUTO_QUARANTINE).map(([mode, name]) => (
              <option key={mode} value={mode}>
                {name}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Quarantine limit" hint="With so many quarantines, automatic ones stop. Empty: no limit.">
          <input
            name="quarantine_limit"
            type="number"
            min={1}
            max={MAX.quarantine_limit}
            className="field"
            defaultValue={data.quarantine_limit ?? ''}
          />
        </Field>
        <Field
          label="Expiry warning, in days"
          hint="How long before its end a quarantine is announced to end. 0: never."
        >
          <input
            name="quarantine_warning_days"
            type="number"
            min={0}
            max={MAX.quarantine_warning_days}
            required
            className="field"
            defaultValue={data.quarantine_warning_days}
          />
        </Field>
        <Field label="Reruns, in percent" hint="Time for running new and unhealthy tests again. Empty: none.">
          <input
            name="rerun_percent"
            type="number"
            min={1}
            max={MAX.rerun_percent}
            className="field"
            defaultValue={data.rerun_percent ?? ''}
          />
        </Field>
        <Field
          label="Price of a minute of CI"
          hint="In a unit of your choice, for what red runs cost. Empty: no money is shown."
        >
          <input
            name="ci_minute_price"
            type="number"
            min={0}
            max={MAX.price}
            step="any"
            className="field"
            defaultValue={data.ci_minute_price ?? ''}
          />
        </Field>
        <Field label="Price of an hour of waiting" hint="Of the author of a change whose run is red. Empty: none.">
          <input
            name="waiting_hour_price"
            type="number"
            min={0}
            max={MAX.price}
            step="any"
            className="field"
            defaultValue={data.waiting_hour_price ?? ''}
          />
        </Field>
        <Field
          label="Events are kept, in days"
          hint="Empty: as long as executions. Events that are older leave within a day, for good."
        >
          <input
            name="event_retention_days"
            type="number"
            min={1}
            max={MAX.event_retention_days}
            className="field"
            defaultValue={data.event_retention_days ?? ''}
          />
        </Field>
        <Field
          label="Renames accepted from"
          hint="Proposals that are as sure as this, from 0.9 to 1, are accepted. Empty: people decide."
        >
          <input
            name="rename_confidence_min"
            type="number"
            min={RULE_CONFIDENCE}
            max={1}
            step={0.01}
            className="field"
            defaultValue={data.rename_confidence_min ?? ''}
          />
        </Field>
        <Field
          label="Executions are kept, in days"
          hint="By whole months. Empty: as long as the installation does, which is also the longest. Older ones leave for good."
        >
          <input
            name="execution_retention_days"
            type="number"
            min={1}
            max={MAX.event_retention_days}
            className="field"
            defaultValue={data.execution_retention_days ?? ''}
          />
        </Field>
        <Field
          label="Tests are forgotten after, in days"
          hint="Without a run on any branch. Empty: never. A quarantined test stays until its quarantine ends."
        >
          <input
            name="forget_tests_after_days"
            type="number"
            min={MIN.forget_tests_after_days}
            max={MAX.event_retention_days}
            className="field"
            defaultValue={data.forget_tests_after_days ?? ''}
          />
        </Field>
        <HostFields path={path} page={data.host_page} />
      </fieldset>
      <div className="flex flex-wrap items-center gap-3 border-t border-line px-4 py-3">
        <button type="submit" className="button button-primary" disabled={saving.isPending || !mayChange}>
          {saving.isPending ? 'Saving …' : 'Save'}
        </button>
        {saving.error && (
          <p role="alert" className="text-broken">
            {saving.error.message}
          </p>
        )}
        {saving.data && (
          <p role="status">
            Saved.
            {saving.data.body.needs_rebuild && (
              <>
                {' '}
                Stored executions follow the old setting until you run <code>ci-insights rebuild</code>. New uploads
                follow the new one.
              </>
            )}
          </p>
        )}
      </div>
    </form>
  );
}

/** The settings that were changed in the form. An emptied default branch stays as it is: there is no way to forget it. */
function changeIn(form: FormData, before: RepositorySettingsAnswer): SettingsChange {
  const host = hostPageIn(form);
  const textOf = (name: string): string => String(form.get(name) ?? '').trim();
  const numberOf = (name: string): number | null => (textOf(name) === '' ? null : Number(textOf(name)));
  const mode = textOf('auto_quarantine');
  const after: SettingsChange = {
    default_branch: textOf('default_branch') || (before.default_branch ?? undefined),
    flaky_detection_enabled: textOf('flaky_detection_enabled') === 'true',
    auto_quarantine: isMode(mode) ? mode : before.auto_quarantine,
    quarantine_limit: numberOf('quarantine_limit'),
    quarantine_warning_days: numberOf('quarantine_warning_days') ?? before.quarantine_warning_days,
    rerun_percent: numberOf('rerun_percent'),
    ci_minute_price: numberOf('ci_minute_price'),
    waiting_hour_price: numberOf('waiting_hour_price'),
    event_retention_days: numberOf('event_retention_days'),
    rename_confidence_min: numberOf('rename_confidence_min'),
    execution_retention_days: numberOf('execution_retention_days'),
    forget_tests_after_days: numberOf('forget_tests_after_days'),
    host_page: isSameHost(host, before.host_page) ? before.host_page : host,
  };
  const changed = Object.entries(after).filter(
    ([name, value]) => value !== undefined && value !== before[name as keyof SettingsChange],
  );
  return Object.fromEntries(changed);
}
