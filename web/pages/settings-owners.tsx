/** The rules that say who owns tests: they are added, edited, moved and removed here, and saved as a whole. */
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { OwnerRule } from '../../src/domain/owner-rules.ts';
import type { OwnersPreviewAnswer } from '../../src/insights/owner-preview.ts';
import type { RepositoryPath } from '../api/queries.ts';
import { Section } from '../ui/section.tsx';
import { OwnerChanges, reachInWords, useOwnersPreview } from './settings-owners-preview.tsx';
import { useSaving } from './settings-saving.ts';

/** A rule as it is typed. */
interface Draft {
  /** Stays while the rule moves. */
  key: number;
  testName: string;
  file: string;
  owners: string;
}

const draftOf = ({ test_name: testName = '', file = '', owners }: OwnerRule, key: number): Draft => ({
  key,
  testName,
  file,
  owners: owners.join(' '),
});

function ruleOf({ testName, file, owners }: Draft): OwnerRule {
  const [name, path] = [testName.trim(), file.trim()];
  return {
    ...(name !== '' && { test_name: name }),
    ...(path !== '' && { file: path }),
    owners: owners.split(/[\s,]+/).filter((owner) => owner !== ''),
  };
}

interface OwnerRulesProps {
  path: RepositoryPath;
  rules: readonly OwnerRule[];
  mayChange: boolean;
}

export function OwnerRules({ path, rules, mayChange }: OwnerRulesProps) {
  const [drafts, setDrafts] = useState(() => rules.map(draftOf));
  const saving = useSaving(path);
  const wanted = useMemo(() => drafts.map(ruleOf), [drafts]);
  const isChanged = JSON.stringify(wanted) !== JSON.stringify(rules);
  const preview = useOwnersPreview(path, wanted, mayChange && isChanged);
  const change = (at: number, changes: Partial<Draft>) =>
    setDrafts(drafts.map((draft, i) => (i === at ? { ...draft, ...changes } : draft)));
  const move = (from: number, to: number) =>
    setDrafts(drafts.toSpliced(from, 1).toSpliced(to, 0, ...drafts.slice(from, from + 1)));
  const add = () => {
    const key = 1 + Math.max(-1, ...drafts.map((draft) => draft.key));
    setDrafts([...drafts, { key, testName: '', file: '', owners: '' }]);
  };
  return (
    <Section title="Owners of tests" aside="these rules win over CODEOWNERS">
      <form
        aria-label="Rules of owners"
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate({ test_owners: wanted });
        }}
      >
        <p className="px-4 pt-3 text-soft">
          Of several rules that match a test, the last one counts. A rule without owners takes them away.{' '}
          <Link to="/$owner/$repository/owners" params={path}>
            Who owns what
          </Link>
        </p>
        <ol className="px-4 py-2">
          {drafts.map((draft, i) => (
            <li key={draft.key} className="flex flex-wrap items-end gap-2 border-b border-line py-2 last:border-0">
              <Text
                label={`Tests of rule ${i + 1}`}
                hint="Any test"
                value={draft.testName}
                isDisabled={!mayChange}
                onChange={(testName) => change(i, { testName })}
              />
              <Text
                label={`Files of rule ${i + 1}`}
                hint="In any file"
                value={draft.file}
                isDisabled={!mayChange}
                onChange={(file) => change(i, { file })}
              />
              <Text
                label={`Owners of rule ${i + 1}`}
                hint="No owner"
                value={draft.owners}
                isDisabled={!mayChange}
                onChange={(owners) => change(i, { owners })}
              />
              {mayChange && (
                <span className="flex gap-1">
                  <Button name={`Move rule ${i + 1} up`} isDisabled={i === 0} onClick={() => move(i, i - 1)}>
                    ↑
                  </Button>
                  <Button
                    name={`Move rule ${i + 1} down`}
                    isDisabled={i === drafts.length - 1}
                    onClick={() => move(i, i + 1)}
                  >
                    ↓
                  </Button>
                  <Button name={`Remove rule ${i + 1}`} onClick={() => setDrafts(drafts.toSpliced(i, 1))}>
                    ✕
                  </Button>
                </span>
              )}
              <Reach of={preview.isCurrent ? preview.data?.rules[i] : undefined} />
            </li>
          ))}
        </ol>
        {drafts.length === 0 && <p className="px-4 pb-3 text-soft">There is no rule.</p>}
        <OwnerChanges path={path} preview={preview} />
        {mayChange && (
          <div className="flex flex-wrap items-center gap-3 border-t border-line px-4 py-3">
            <button type="button" className="button" onClick={add}>
              Add a rule
            </button>
            <button type="submit" className="button button-primary" disabled={!isChanged || saving.isPending}>
              {saving.isPending ? 'Saving …' : 'Save the rules'}
            </button>
            {saving.error && (
              <p role="alert" className="text-broken">
                {saving.error.message}
              </p>
            )}
            <span className="text-xs text-soft">
              Tests by name, with * and ? as wildcards; files as in CODEOWNERS of GitHub; owners with spaces between
              them.
            </span>
          </div>
        )}
      </form>
    </Section>
  );
}

const Reach = ({ of }: { of: OwnersPreviewAnswer['rules'][number] | undefined }) =>
  of && <p className={`w-full text-xs ${of.tests === 0 ? 'text-broken' : 'text-soft'}`}>{reachInWords(of)}</p>;

interface TextProps {
  label: string;
  hint: string;
  value: string;
  isDisabled: boolean;
  onChange: (value: string) => void;
}

const Text = ({ label, hint, value, isDisabled, onChange }: TextProps) => (
  <label className="flex min-w-48 flex-1 flex-col gap-1">
    <span className="text-xs text-soft">{label}</span>
    <input
      className="field"
      maxLength={2_600}
      placeholder={hint}
      value={value}
      disabled={isDisabled}
      onChange={(event) => onChange(event.target.value)}
    />
  </label>
);

interface ButtonProps {
  name: string;
  isDisabled?: boolean;
  onClick: () => void;
  children: string;
}

const Button = ({ name, isDisabled = false, onClick, children }: ButtonProps) => (
  <button
    type="button"
    className="button px-2"
    aria-label={name}
    data-hint={name}
    disabled={isDisabled}
    onClick={onClick}
  >
    {children}
  </button>
);
