/** The terms of a quarantine: whose it is, until when, and where its repair is tracked. */
import type { QuarantineListAnswer } from '../../src/quarantines/schemas.ts';
import { ExternalLink } from './external.tsx';
import { Time } from './time.tsx';

export const Terms = ({ quarantine: one }: { quarantine: QuarantineListAnswer['quarantined_tests'][number] }) => (
  <>
    {one.owner !== null && <span>owner {one.owner}</span>}
    {one.expires_at !== null && (
      <span>
        ends <Time at={one.expires_at} />
      </span>
    )}
    {one.ticket_url !== null && <ExternalLink href={one.ticket_url}>ticket</ExternalLink>}
  </>
);
