/** Whether a test is quarantined, with the way in and out. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { QuarantineListAnswer } from '../../src/quarantines/schemas.ts';
import { quarantinesChanged } from '../api/changes.ts';
import { effectsQuery, failuresQuery, quarantinesQuery, release, sessionQuery, type TestPath } from '../api/queries.ts';
import { EffectText } from '../ui/effect.tsx';
import { Excused } from '../ui/excused.tsx';
import { Failed } from '../ui/states.tsx';
import { Terms } from '../ui/terms.tsx';
import { Time } from '../ui/time.tsx';
import { QuarantineDialog } from './quarantine-dialog.tsx';

type Quarantine = QuarantineListAnswer['quarantined_tests'][number];

export function TestQuarantine({ path, testName }: { path: TestPath; testName: string }) {
  const { data, error, refetch } = useQuery(quarantinesQuery(path, path.testId));
  const { data: session } = useQuery(sessionQuery);
  const [isAsking, setAsking] = useState(false);
  const mayChange = session?.scope !== 'view';
  const quarantines = data?.quarantined_tests ?? [];
  return (
    <section aria-label="Quarantine" className="card flex flex-col">
      <div className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
        <h2 className="font-semibold">Quarantine</h2>
        {data && quarantines.length === 0 && <span className="text-soft">Its failures count everywhere.</span>}
        {mayChange && (
          <button type="button" className="button ml-auto" onClick={() => setAsking(true)}>
            Quarantine …
          </button>
        )}
      </div>
      {error && <Failed error={error} reset={() => void refetch()} />}
      {quarantines.map((one) => (
        <Held key={one.id} path={path} quarantine={one} mayChange={mayChange} />
      ))}
      {isAsking && <QuarantineDialog path={path} testName={testName} onClose={() => setAsking(false)} />}
    </section>
  );
}

function Held({ path, quarantine, mayChange }: { path: TestPath; quarantine: Quarantine; mayChange: boolean }) {
  const client = useQueryClient();
  const { data: failures } = useQuery(failuresQuery(path));
  const { data: counted } = useQuery(effectsQuery({ owner: path.owner, repository: path.repository }));
  const effect = counted?.effects.find(({ quarantine_id: id }) => id === quarantine.id);
  const releasing = useMutation({
    mutationFn: () => release(path, quarantine.id),
    onSettled: () => quarantinesChanged(client),
  });
  const { branch, pipeline_name: pipeline, job_name: job, axes, failure_ids: failureIds } = quarantine;
  return (
    <div className="flex flex-wrap items-start gap-x-3 gap-y-1 border-t border-line px-4 py-2.5">
      <div className="flex min-w-0 flex-1 basis-64 flex-col gap-1">
        <p className="font-medium break-words">{quarantine.reason}</p>
        <Excused
          branch={branch}
          pipeline={pipeline}
          job={job}
          axes={axes}
          failureIds={failureIds}
          groups={failures?.failures ?? []}
        />
        <p className="flex min-h-4 flex-wrap gap-x-3 text-xs text-soft">
          <span>
            {quarantine.source === 'auto' ? 'made automatically' : 'made'} <Time at={quarantine.created_at} />
          </span>
          {quarantine.cause_id !== null && (
            <Link
              to="/$owner/$repository/causes/$cause"
              params={{ owner: path.owner, repository: path.repository, cause: quarantine.cause_id }}
            >
              follows a cause
            </Link>
          )}
          <Terms quarantine={quarantine} />
          {effect && <EffectText effect={effect} />}
        </p>
      </div>
      {quarantine.is_recovered && (
        <span className="rounded-full bg-healthy-soft px-2 py-0.5 text-xs font-medium text-healthy">recovered</span>
      )}
      {mayChange && (
        <button type="button" className="button h-7" disabled={releasing.isPending} onClick={() => releasing.mutate()}>
          {releasing.isPending ? 'Releasing …' : 'Release'}
        </button>
      )}
      {releasing.error && (
        <p role="alert" className="basis-full text-broken">
          {releasing.error.message}
        </p>
      )}
    </div>
  );
}
