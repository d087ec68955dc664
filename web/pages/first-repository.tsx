/** The home of a service that knows no repository yet: which one to begin with, and with which CI. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Choice } from '../ui/choice.tsx';
import { Field } from '../ui/field.tsx';
import { recipesOf } from './first-report-recipes.ts';

const CIS = recipesOf({ repository: '', origin: '' }).map(({ ci }) => ci);
/** Matches `acme/shop`, or the address of its page at the host. */
const PATH = /^(?:https?:\/\/[^/]+\/)?([\w.-]+)\/([\w.-]+?)(?:\.git)?\/?$/;

export function FirstRepository() {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [ci, setCi] = useState(CIS[0]);
  const [isWrong, setWrong] = useState(false);
  const open = () => {
    const [, owner, repository] = PATH.exec(name.trim()) ?? [];
    setWrong(owner === undefined);
    if (owner === undefined || repository === undefined) return;
    void navigate({ to: '/$owner/$repository', params: { owner, repository }, search: ci === undefined ? {} : { ci } });
  };
  return (
    <div className="mx-auto max-w-xl px-4 py-10">
      <h2 className="mb-1 font-semibold">Which repository do you want to begin with?</h2>
      <p className="mb-4 text-soft">
        Its page imports its history, or shows what its CI needs to send the first report.
      </p>
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          open();
        }}
      >
        <Field label="Repository">
          <input
            required
            placeholder="acme/shop"
            spellCheck={false}
            autoComplete="off"
            className="field w-64"
            value={name}
            aria-describedby="first-repository-wrong"
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
        <Field label="CI">
          <Choice label="CI" value={ci} options={CIS.map((one) => [one, one] as const)} onChoose={setCi} />
        </Field>
        <button type="submit" className="button button-primary">
          Continue
        </button>
      </form>
      <p id="first-repository-wrong" role="alert" className="mt-2 text-broken">
        {isWrong ? 'Write it as owner/name, or as the address of its page at the host.' : ''}
      </p>
    </div>
  );
}
