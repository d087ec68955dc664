/** The service: its state, uploads, access and trail. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { KeyList, MadeKey } from '../../src/access/keys.ts';
import type { SessionList } from '../../src/access/sessions.ts';
import type { UploadList } from '../../src/ingest/receipts.ts';
import type { AuditList } from '../../src/operate/audit.ts';
import type { DeadLetterList } from '../../src/operate/dead-letters.ts';
import type { ServiceState } from '../../src/operate/service-state.ts';
import { ask, get, pathOf, type Query } from './client.ts';
import { keyOf } from './keys.ts';
import { insights, PAGE_ROWS, type RepositoryPath } from './paths.ts';

export const serviceStateQuery = queryOptions({
  queryKey: keyOf('service state'),
  queryFn: ({ signal }) => get<ServiceState>('/service', {}, signal),
});

export const deadLettersQuery = queryOptions({
  queryKey: keyOf('dead letters'),
  queryFn: ({ signal }) => get<DeadLetterList>('/dead-letters', {}, signal),
});

export const replayDeadLetter = (id: string) => ask<undefined>('POST', pathOf`/dead-letters/${id}/replay`);

/** Uploads of one repository, or of all. */
export const uploadsQuery = (path: RepositoryPath | undefined, query: Query) =>
  infiniteQueryOptions({
    queryKey: keyOf('uploads', path, query),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<UploadList>('GET', `${path ? insights(path) : ''}/uploads`, {
        query: { ...query, cursor, per_page: PAGE_ROWS },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
  });

export const keysQuery = queryOptions({
  queryKey: keyOf('keys'),
  queryFn: ({ signal }) => get<KeyList>('/keys', {}, signal),
});

export interface NewKey {
  name: string;
  scope: KeyList['keys'][number]['scope'];
  owner: string | null;
  repositories?: string[] | null;
  expires_in_days?: number | null;
  pull_requests_only?: boolean;
}

export const makeKey = (body: NewKey) => ask<MadeKey>('POST', '/keys', { body });

export const revokeKey = (id: string) => ask<undefined>('DELETE', pathOf`/keys/${id}`);

export const sessionsQuery = queryOptions({
  queryKey: keyOf('sessions'),
  queryFn: ({ signal }) => get<SessionList>('/sessions', {}, signal),
});

export const revokeSession = (id: string) => ask<undefined>('DELETE', pathOf`/sessions/${id}`);

export const auditQuery = (query: Query) =>
  infiniteQueryOptions({
    queryKey: keyOf('audit', query),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<AuditList>('GET', '/audit', { query: { ...query, cursor, per_page: PAGE_ROWS }, signal }),
    getNextPageParam: ({ next }) => next,
  });
