/** The end of a test that will never run again. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { sessionQuery, type TestPath } from '../api/queries.ts';
import { ForgetTests } from '../ui/forget-tests.tsx';

/** Nothing, if who looks may not forget it. */
export function TestForgetting({ path }: { path: TestPath }) {
  const { data: session } = useQuery(sessionQuery);
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  if (session?.scope !== 'admin') return null;
  const { owner, repository, testId } = path;
  return (
    <section aria-label="Forget" className="card flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
      <h2 className="font-semibold">Forget</h2>
      <p className="min-w-0 flex-1 basis-72 text-soft">
        For a test that will never run again: all that is stored of it goes.
      </p>
      <button type="button" className="button text-broken" onClick={() => setAsking(true)}>
        Forget …
      </button>
      {isAsking && (
        <ForgetTests
          path={{ owner, repository }}
          wanted={{ test_ids: [testId] }}
          title="Forget this test"
          onAsked={() => navigate({ to: '/$owner/$repository/tests', params: { owner, repository } })}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}
