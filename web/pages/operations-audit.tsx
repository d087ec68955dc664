/** Who changed what: keys, sessions, settings, quarantines. The newest first. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { AuditList } from '../../src/operate/audit.ts';
import { auditQuery } from '../api/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { PagedList } from '../ui/paged-list.tsx';
import { repositoryIn } from '../ui/repository-text.ts';
import { SearchField } from '../ui/search-field.tsx';
import { Empty } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { Unfolding } from '../ui/unfolding.tsx';

const route = getRouteApi('/signed/operations');
type Entry = AuditList['entries'][number];

/** In words; the order of the list is that of the choice. */
const DEEDS: Record<Entry['action'], string> = {
  'key.create': 'made the key',
  'key.exchange': 'got',
  'key.revoke': 'revoked the key',
  'session.begin': 'signed in',
  'session.change': 'changed the rights of the session of',
  'session.end': 'ended the session of',
  'repository.create': 'added the repository',
  'repository.settings': 'changed settings of',
  'repository.rename': 'renamed to',
  'repository.delete': 'deleted',
  'repository.deleted': 'removed all rows of',
  'person.forget': 'replaced a name by',
  'tests.forget': 'asked to forget tests of',
  'tests.forgotten': 'removed all rows of forgotten tests of',
  'quarantine.create': 'quarantined',
  'quarantine.update': 'changed the quarantine of',
  'quarantine.remove': 'released',
  'quarantine.restore': 'restored the quarantine of',
  'cause.update': 'changed owner or ticket of the cause',
  'cause.quarantine': 'quarantined the cause',
  'cause.release': 'released the cause',
  'rename.accept': 'accepted the new name of a test,',
  'rename.reject': 'rejected the new name of a test,',
  'rename.undo': 'took back the new name of a test,',
  'view.create': 'saved for everyone the view',
  'view.remove': 'deleted for everyone the view',
  'backtest.request': 'asked for a backtest',
  'import.start': 'started an import',
  'import.cancel': 'cancelled an import',
  'verification.request': 'asked for a verification',
  'dead_letter.replay': 'replayed a dead letter of',
  'queue.retry': 'retried failed jobs',
  'derived.rebuild': 'rebuilt the derived tables',
  'stores.copy': 'copied everything to other stores',
  'stores.dump': 'wrote everything to a dump',
  'stores.restore': 'restored a dump',
  'stores.reconcile': 'made restored stores agree',
  'uploads.resend': 'sent kept uploads again',
};
const ACTIONS = Object.keys(DEEDS).filter((name): name is Entry['action'] => name in DEEDS);

/** Entries are kept for this long by default. */
const DAYS = 365;
const DAY_MS = 86_400_000;

export function Audit() {
  const { repository, actor, action } = route.useSearch();
  const navigate = route.useNavigate();
  const path = repositoryIn(repository);
  const chosen = ACTIONS.find((known) => known === action);
  const found = useInfiniteQuery({
    ...auditQuery({
      actor,
      action: chosen,
      owner: path?.owner,
      repository: path?.repository,
      from: daysAgo(DAYS),
    }),
    placeholderData: (before) => before,
  });
  const onRepository = useCallback(
    (text: string) =>
      void navigate({ search: (before) => ({ ...before, repository: text || undefined }), replace: true }),
    [navigate],
  );
  const onActor = useCallback(
    (text: string) => void navigate({ search: (before) => ({ ...before, actor: text || undefined }), replace: true }),
    [navigate],
  );
  const entries = found.data?.pages.flatMap(({ body }) => body.entries) ?? [];
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField
          label="Who"
          placeholder="Everyone, or a whole name"
          value={actor ?? ''}
          onSearch={onActor}
          hasKey={false}
        />
        <SearchField
          label="Repository"
          placeholder="Every repository, or owner/name"
          value={repository ?? ''}
          onSearch={onRepository}
        />
        <Choice
          label="Action"
          value={chosen}
          options={[[undefined, 'Every action'], ...ACTIONS.map((one) => [one, one] as const)]}
          onChoose={(one) => void navigate({ search: (before) => ({ ...before, action: one }), replace: true })}
        />
      </div>
      <section aria-label="Audit" className={`card overflow-hidden ${found.isPlaceholderData ? 'opacity-60' : ''}`}>
        <PagedList
          found={found}
          rows={entries}
          older="Older entries"
          empty={
            <Empty title="Nothing was changed">
              <p>Whoever makes a key, signs in, changes settings or quarantines a test is listed here.</p>
            </Empty>
          }
        >
          {(entry) => <Row key={entry.id} entry={entry} />}
        </PagedList>
      </section>
    </>
  );
}

/** To the day, so that the list stays the same while one looks at it. */
const daysAgo = (days: number): string =>
  new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - days * DAY_MS).toISOString();

function Row({ entry }: { entry: Entry }) {
  const { actor, action, object, owner, repository } = entry;
  const place = repository === null ? owner : `${owner}/${repository}`;
  const what = action === 'session.begin' ? '' : (object.name ?? object.id ?? '');
  return (
    <li className="border-b border-line last:border-0">
      <Unfolding
        grid="grid grid-cols-[minmax(0,1fr)_6.5rem] items-baseline gap-x-3 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)_6.5rem]"
        summary={
          <>
            <span className="truncate">
              <span className="font-medium">{actor.name}</span> {DEEDS[action]}{' '}
              <span className="font-medium">{what}</span>
            </span>
            <span className="truncate text-soft max-sm:col-start-1 max-sm:row-start-2">{place}</span>
            <span className="text-right text-soft">
              <Time at={entry.at} />
            </span>
          </>
        }
      >
        {() => (
          <dl className="grid grid-cols-[8rem_minmax(0,1fr)] gap-x-3 gap-y-1 px-4 pb-3 text-xs">
            {linesOf(entry).map(([name, value]) => (
              <div key={name} className="contents">
                <dt className="text-soft">{name}</dt>
                <dd className="break-words">{value}</dd>
              </div>
            ))}
          </dl>
        )}
      </Unfolding>
    </li>
  );
}

function linesOf({ at, actor, action, object, before, after, request_id }: Entry): [string, string][] {
  const lines: [string, string | null][] = [
    ['When', at],
    ['Action', action],
    ['Who', `${actor.name}, ${actor.kind.replace('_', ' ')}`],
    ['Subject', actor.subject],
    ['Key', actor.key_id],
    ['Session', actor.session_id],
    ['Object', object.id],
    ['Before', detailsOf(before)],
    ['After', detailsOf(after)],
    ['Request', request_id],
  ];
  return lines.flatMap(([name, value]) => (value === null ? [] : [[name, value] as [string, string]]));
}

const detailsOf = (details: Entry['before']): string | null =>
  details === null
    ? null
    : Object.entries(details)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(', ') || 'nothing';
