/** The frame of every page: where one is, where one can go, and who is signed in. */
import { useIsFetching, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { BASE } from '../api/client.ts';
import { sessionQuery, signOut } from '../api/queries.ts';
import { DisplayMenu } from './display-menu.tsx';
import { Hints } from './hint.tsx';
import { Jump } from './jump.tsx';
import { Tabs } from './tabs.tsx';
import { useHasTold } from './toast.ts';

const Toasts = lazy(() => import('./toast-region.tsx'));

export function Frame() {
  const hasTold = useHasTold();
  return (
    <>
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-20 focus:rounded focus:bg-card focus:px-3 focus:py-2"
      >
        Skip to the content
      </a>
      <Outlet />
      <Hints />
      {hasTold && (
        <Suspense>
          <Toasts />
        </Suspense>
      )}
    </>
  );
}

/** The frame of those who are signed in. */
export function Signed() {
  const { owner, repository } = useParams({ strict: false });
  const content = useFocusOnNewPage();
  return (
    <div className="min-h-screen">
      <header className="border-b border-line bg-card">
        <div className="mx-auto flex max-w-[96rem] flex-wrap items-center gap-x-4 px-4">
          <nav aria-label="Where you are" className="flex h-12 min-w-0 flex-1 items-center gap-2">
            <Link to="/" className="flex shrink-0 items-center gap-2 font-semibold text-ink">
              <Mark />
              <span className="max-sm:sr-only">ci-insights</span>
            </Link>
            {owner !== undefined && repository !== undefined && (
              <>
                <span aria-hidden="true" className="text-soft">
                  /
                </span>
                <Link to="/$owner/$repository" params={{ owner, repository }} className="truncate font-medium text-ink">
                  {owner}/{repository}
                </Link>
              </>
            )}
          </nav>
          <Jump owner={owner} repository={repository} />
          <DisplayMenu />
          <Person isInRepository={owner !== undefined} />
          {owner !== undefined && repository !== undefined && <Tabs owner={owner} repository={repository} />}
        </div>
        <Progress />
      </header>
      <main id="content" ref={content} tabIndex={-1} className="mx-auto max-w-[96rem] px-4 py-5 outline-none">
        <Outlet />
      </main>
    </div>
  );
}

/** The keyboard and readers go on at the new page, not at a link that is gone. */
function useFocusOnNewPage() {
  const element = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    element.current?.focus({ preventScroll: true });
  }, [pathname]);
  return element;
}

function Person({ isInRepository }: { isInRepository: boolean }) {
  const { data: session } = useQuery(sessionQuery);
  const client = useQueryClient();
  if (!session) return null;
  const leave = async () => {
    await signOut();
    client.clear();
    window.location.assign(`${BASE}/app/sign-in`);
  };
  return (
    <div className="flex items-center gap-3">
      {session.is_operator && (
        <Link to="/operations" className={`text-soft ${isInRepository ? 'max-sm:hidden' : ''}`}>
          Operations
        </Link>
      )}
      <a href={`${BASE}/docs`} className="text-soft max-sm:hidden">
        API
      </a>
      <span className="max-w-40 truncate text-soft max-sm:hidden" data-hint={`Scope ${session.scope ?? 'of the host'}`}>
        {session.actor}
      </span>
      <button type="button" className="button" onClick={() => void leave()}>
        Sign out
      </button>
    </div>
  );
}

/** A line that shows that something is being loaded, in a place of its own. */
function Progress() {
  const isBusy = useIsFetching() > 0;
  return (
    <div className="h-0.5 overflow-hidden" aria-hidden="true">
      <div className={`h-full w-1/3 bg-accent ${isBusy ? 'motion-safe:animate-pulse' : 'invisible'}`} />
    </div>
  );
}

export const Mark = () => (
  <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
    <rect x="2" y="13" width="4" height="8" rx="1" className="fill-healthy" />
    <rect x="8" y="9" width="4" height="12" rx="1" className="fill-healthy" />
    <rect x="14" y="3" width="4" height="18" rx="1" className="fill-broken" />
    <rect x="20" y="11" width="4" height="10" rx="1" className="fill-flaky" />
  </svg>
);
