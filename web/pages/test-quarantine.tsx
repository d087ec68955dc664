/** Whether a test is quarantined, with the way in and out. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { QuarantineListAnswer } from '../../src/quarantines/schemas.ts';
import { quarantinesQuery, release, sessionQuery, type TestPath } from '../api/queries.ts';
import { Terms } from '../ui/terms.tsx';
import { Time } from '../ui/time.tsx';
import { QuarantineDialog } from './quarantine-dialog.tsx';

type Quarantine = QuarantineListAnswer['quarantined_tests'][number];

export function TestQuarantine({ path, testName }: { path: TestPath; testName: string }) {
  const { data } = useQuery(quarantinesQuery(path, path.testId));
  const { data: session } = useQuery(sessionQuery);
  const [isAsking, setAsking] = useState(false);
  const mayChange = session?.scope !== 'view';
  const quarantines = data?.quarantined_tests ?? [];
  return (
    <section aria-label="Quarantine" className="card flex flex-col">
      <div className="flex min-h-12 items-center gap-3 px-4 py-2">
        <h2 className="font-semibold">Quarantine</h2>
        {data && quarantines.length === 0 && <span className="text-soft">Its failures count everywhere.</span>}
        {mayChange && (
          <button type="button" className="button ml-auto" onClick={() => setAsking(true)}>
            Quarantine …
          </button>
        )}
      </div>
      {quarantines.map((one) => (
        <Held key={one.id} path={path} quarantine={one} mayChange={mayChange} />
      ))}
      {isAsking && <QuarantineDialog path={path} testName={testName} onClose={() => setAsking(false)} />}
    </section>
  );
}

function Held({ path, quarantine, mayChange }: { path: TestPath; quarantine: Quarantine; mayChange: boolean }) {
  const client = useQueryClient();
  const releasing = useMutation({
    mutationFn: () => release(path, quarantine.id),
    onSettled: () => client.invalidateQueries({ queryKey: ['quarantines'] }),
  });
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line px-4 py-2.5">
      <span className="font-medium">{quarantine.branch === null ? 'On every branch' : `On ${quarantine.branch}`}</span>
      <span className="min-w-0 flex-1 break-words text-soft">
        {quarantine.reason}
        <Terms quarantine={quarantine} />
      </span>
      {quarantine.is_recovered && (
        <span className="rounded-full bg-healthy-soft px-2 py-0.5 text-xs font-medium text-healthy">recovered</span>
      )}
      <span className="text-xs text-soft">
        {quarantine.source === 'auto' ? 'automatic, ' : ''}
        <Time at={quarantine.created_at} />
      </span>
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
