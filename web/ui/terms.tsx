/** What was agreed on a quarantine: whose it is, until when, and what it is narrowed to. */
import type { QuarantineListAnswer } from '../../src/quarantines/schemas.ts';
import { ExternalLink } from './external.tsx';
import { Time } from './time.tsx';

export function Terms({ quarantine: one }: { quarantine: QuarantineListAnswer['quarantined_tests'][number] }) {
  const places = [one.pipeline_name, one.job_name].filter((name) => name !== null);
  return (
    <span className="flex flex-wrap gap-x-3 text-xs empty:hidden">
      {one.owner !== null && <span>owner {one.owner}</span>}
      {one.expires_at !== null && (
        <span>
          ends <Time at={one.expires_at} />
        </span>
      )}
      {one.ticket_url !== null && <ExternalLink href={one.ticket_url}>ticket</ExternalLink>}
      {places.length > 0 && <span>only in {places.join(' · ')}</span>}
      {one.failure_ids !== null && (
        <span>
          only for {one.failure_ids.length} {one.failure_ids.length === 1 ? 'kind' : 'kinds'} of failure
        </span>
      )}
    </span>
  );
}
