import type { PendingEvent } from '../postgres/outbox-consumers.ts';

/** An event as a line of JSONEachRow for `ci.events`. */
export const eventLine = (event: PendingEvent): string =>
  JSON.stringify({
    repository_id: event.repositoryId,
    received_at: event.receivedAt.toISOString().replace('T', ' ').replace('Z', ''),
    id: event.id,
    type: event.type,
    trigger: event.trigger,
    pull_request: event.pullRequest,
    base_ref: event.baseRef,
    metadata: event.metadata,
    outcome: event.outcome,
  });
