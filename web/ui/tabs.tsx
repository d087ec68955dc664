/** The pages of a repository: a row of tabs where there is room for all, else a menu behind the name of the open page. */
import { Link, useLocation, useMatches } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { ViewsMenu } from './views-menu.tsx';

/** In the order of the row. A page that belongs to a tab's address, such as a test's, marks the tab, too. */
export const TABS = [
  ['/$owner/$repository', 'Today'],
  ['/$owner/$repository/tests', 'Tests'],
  ['/$owner/$repository/pulls', 'Pull requests'],
  ['/$owner/$repository/runs', 'Runs'],
  ['/$owner/$repository/causes', 'Causes'],
  ['/$owner/$repository/quarantines', 'Quarantine'],
  ['/$owner/$repository/owners', 'Owners'],
  ['/$owner/$repository/cost', 'Cost'],
  ['/$owner/$repository/durations', 'Durations'],
  ['/$owner/$repository/lanes', 'Lanes'],
  ['/$owner/$repository/events', 'Event log'],
  ['/$owner/$repository/uploads', 'Uploads'],
  ['/$owner/$repository/setup', 'Set up'],
  ['/$owner/$repository/settings', 'Settings'],
] as const;

/** Every address begins with it. */
const HOME = TABS[0][0];

interface TabsProps {
  owner: string;
  repository: string;
}

export const Tabs = (params: TabsProps) => (
  <nav aria-label="Pages of this repository" className="order-last flex min-w-0 basis-full items-start gap-2">
    <ul className="flex min-w-0 gap-0.5 overflow-x-auto max-lg:hidden">
      {TABS.map(([to, label]) => (
        <li key={to}>
          <Link
            to={to}
            params={params}
            activeOptions={{ includeSearch: false, exact: to === HOME }}
            className="block border-b-2 border-transparent px-2.5 py-2 whitespace-nowrap text-soft hover:text-ink hover:no-underline data-[status=active]:border-accent data-[status=active]:font-medium data-[status=active]:text-ink"
          >
            {label}
          </Link>
        </li>
      ))}
    </ul>
    <Menu {...params} />
    <ViewsMenu {...params} />
  </nav>
);

/** Closes when one goes to another page, and by Escape. */
function Menu(params: TabsProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const { pathname } = useLocation();
  const route = useMatches({ select: (matches) => matches.at(-1)?.fullPath.replace(/\/$/, '') ?? '' });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is what it closes for
  useEffect(() => menu.current?.removeAttribute('open'), [pathname]);
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !menu.current?.open) return;
      menu.current.removeAttribute('open');
      menu.current.querySelector('summary')?.focus();
    };
    document.addEventListener('keydown', close);
    return () => document.removeEventListener('keydown', close);
  }, []);
  const [, open] = TABS.find(([to]) => route === to || (to !== HOME && route.startsWith(`${to}/`))) ?? [];
  return (
    <details ref={menu} className="min-w-0 flex-1 lg:hidden">
      <summary className="flex cursor-pointer items-center gap-2 py-2 font-medium text-ink">
        <span aria-hidden="true">☰</span>
        {open ?? 'Pages'}
      </summary>
      <ul className="grid grid-cols-2 gap-x-4 border-t border-line py-2 sm:grid-cols-3">
        {TABS.map(([to, label]) => (
          <li key={to}>
            <Link
              to={to}
              params={params}
              activeOptions={{ includeSearch: false, exact: to === HOME }}
              className="block rounded px-2 py-2 text-soft data-[status=active]:font-medium data-[status=active]:text-ink"
            >
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </details>
  );
}
