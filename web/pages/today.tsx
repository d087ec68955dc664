/** The home of a repository: what changed lately, what broke the default branch, and what people should look at. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { quarantinesQuery, redRunsQuery, turnsQuery } from '../api/queries.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { useTitle } from '../ui/title.ts';
import { FirstReport } from './first-report.tsx';
import { ImportBanner } from './import-history.tsx';
import { CostlyCauses } from './today-causes.tsx';
import { Endings } from './today-endings.tsx';
import { RedRunList } from './today-red-runs.tsx';
import { RenamesOfToday } from './today-renames.tsx';
import { Trends } from './today-trends.tsx';
import { Turns } from './today-turns.tsx';
import { UploadTrouble } from './today-uploads.tsx';
import { Week } from './today-week.tsx';

const route = getRouteApi('/signed/$owner/$repository/');
const REFETCH_MS = 60_000;

export function Today() {
  const { owner, repository } = route.useParams();
  const path = { owner, repository };
  useTitle(`${owner}/${repository}`);
  const red = useQuery({ ...redRunsQuery(path), refetchInterval: REFETCH_MS });
  const turns = useQuery({ ...turnsQuery(path), refetchInterval: REFETCH_MS });
  const quarantines = useQuery({ ...quarantinesQuery(path), refetchInterval: REFETCH_MS });
  // Shown at once, so that nothing jumps.
  const parts = [red, turns, quarantines];
  const error = parts.find((one) => one.error && !one.data)?.error;
  if (error)
    return (
      <Page>
        <Failed error={error} reset={() => parts.forEach((one) => void one.refetch())} />
      </Page>
    );
  if (!red.data || !turns.data || !quarantines.data)
    return (
      <Page>
        <Loading rows={12} />
      </Page>
    );
  return (
    <Page>
      <Week path={path} empty={<FirstReport {...path} />}>
        <ImportBanner path={path} />
        <div className="grid items-start gap-5 lg:grid-cols-2">
          <div className="flex min-w-0 flex-col gap-5">
            <RedRunList path={path} found={red.data} />
            <CostlyCauses path={path} />
            <Endings path={path} quarantines={quarantines.data.quarantined_tests} />
            <UploadTrouble path={path} />
            <RenamesOfToday path={path} />
          </div>
          <Turns path={path} found={turns.data} />
        </div>
        <Trends path={path} />
      </Week>
    </Page>
  );
}

const Page = ({ children }: { children: ReactNode }) => (
  <>
    <h1 className="sr-only">Today</h1>
    {children}
  </>
);
