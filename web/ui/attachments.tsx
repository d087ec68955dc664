/** Links to what was kept of a failed attempt. Their addresses and names came with test results. */
import type { TestFailure } from '../../src/insights/failures.ts';
import { ExternalLink } from './external.tsx';

type Attachment = TestFailure['latest_events'][number]['attachments'][number];

export function Attachments({ attachments }: { attachments: readonly Attachment[] }) {
  return attachments.map(({ kind, name, url }) => (
    <ExternalLink key={url} href={url}>
      {name === '' || name.toLowerCase() === kind ? kind : `${kind}: ${name}`}
    </ExternalLink>
  ));
}
