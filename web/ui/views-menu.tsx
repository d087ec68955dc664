/** The menu of saved views, on every list page: goes to one, saves what is shown, and deletes the one that is open. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation, useMatches, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type RepositoryPath, sessionQuery } from '../api/queries.ts';
import { deleteView, type SavedView, savedViewsQuery, saveView } from '../api/saved-views.ts';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { MenuButton } from './menu.tsx';
import type { MenuGroup } from './menu-groups.ts';
import { tell } from './toast.ts';
import { isSameView, viewLink } from './view-link.ts';

type Page = SavedView['page'];
const LABELS: Record<Page, string> = {
  tests: 'Tests',
  pulls: 'Pull requests',
  runs: 'Runs',
  causes: 'Causes',
  quarantines: 'Quarantine',
  owners: 'Owners',
  cost: 'Cost',
  durations: 'Durations',
  lanes: 'Lanes',
  events: 'Event log',
  uploads: 'Uploads',
};
const isPage = (name: string): name is Page => name in LABELS;

/** The list page that is open, and what narrows and orders it; undefined on other pages. */
function useShown(): Pick<SavedView, 'page' | 'query'> | undefined {
  const route = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '' });
  const { searchStr } = useLocation();
  const name = route.replace(/^\/\$owner\/\$repository\//, '');
  return isPage(name) ? { page: name, query: searchStr.replace(/^\?/, '') } : undefined;
}

export function ViewsMenu(path: RepositoryPath) {
  const shown = useShown();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { data: session } = useQuery(sessionQuery);
  // Asked for when a pointer or the focus comes near: most visits to a page do without.
  const [isNear, setNear] = useState(false);
  const { data } = useQuery({ ...savedViewsQuery(path), enabled: isNear });
  const [isSaving, setSaving] = useState(false);
  const changed = () => client.invalidateQueries({ queryKey: savedViewsQuery(path).queryKey });
  const deleting = useMutation({
    mutationFn: async (view: SavedView) => {
      await deleteView(path, view.id);
      await changed();
      tell({
        text: `Deleted the view “${view.name}”.`,
        undo: async () => {
          const { name, page, query, is_shared } = view;
          await saveView(path, { name, page, query, is_shared });
          await changed();
        },
      });
    },
    onError: (error) => tell({ text: 'The view was not deleted.', problems: [error.message] }),
  });
  if (!shown) return null;
  const mayShare = session?.scope === 'ci' || session?.scope === 'admin';
  const views = data?.views ?? [];
  const open = views.filter((view) => isSameView(view, shown));
  const listOf = (title: string, listed: readonly SavedView[]): MenuGroup[] =>
    listed.length === 0
      ? []
      : [
          {
            title,
            chosen: open.filter((view) => listed.includes(view)).map(({ id }) => id),
            items: listed.map(({ id, name, page }) => ({ id, label: name, hint: LABELS[page] })),
            onChoose: (id) => {
              const view = listed.find((one) => one.id === id);
              if (view) void navigate(viewLink(path, view));
            },
          },
        ];
  const groups: MenuGroup[] = [
    ...listOf(
      'Yours',
      views.filter((view) => !view.is_shared),
    ),
    ...listOf(
      'Of everyone',
      views.filter((view) => view.is_shared),
    ),
    {
      title: 'This page',
      items: [
        { id: 'save', label: 'Save this view …' },
        ...open
          .filter((view) => !view.is_shared || mayShare)
          .map(({ id, name, is_shared }) => ({
            // An id is once in a menu.
            id: `delete ${id}`,
            label: `Delete “${name}”`,
            ...(is_shared && { hint: 'For everyone' }),
          })),
      ],
      onChoose: (id) => {
        const view = open.find((one) => id === `delete ${one.id}`);
        if (view) deleting.mutate(view);
        else setSaving(true);
      },
    },
  ];
  return (
    <div className="ml-auto shrink-0 py-1">
      <MenuButton title="Views" groups={groups} className="button h-7 text-xs" onNear={() => setNear(true)}>
        Views
      </MenuButton>
      {isSaving && (
        <Dialog title="Save this view" onClose={() => setSaving(false)}>
          <SaveForm
            path={path}
            shown={shown}
            mayShare={mayShare}
            onChanged={changed}
            onClose={() => setSaving(false)}
          />
        </Dialog>
      )}
    </div>
  );
}

interface SaveFormProps {
  path: RepositoryPath;
  shown: Pick<SavedView, 'page' | 'query'>;
  mayShare: boolean;
  onChanged: () => Promise<void>;
  onClose: () => void;
}

function SaveForm({ path, shown, mayShare, onChanged, onClose }: SaveFormProps) {
  const saving = useMutation({
    mutationFn: async (body: Parameters<typeof saveView>[1]) => {
      const saved = await saveView(path, body);
      await onChanged();
      tell({ text: `Saved the view “${saved.name}”.` });
      onClose();
    },
  });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        const name = String(fields.get('name') ?? '').trim();
        saving.mutate({ ...shown, name, is_shared: fields.has('shared') });
      }}
    >
      <Field label="Name" hint={`${LABELS[shown.page]}, with the filters, order and columns of now`}>
        <input name="name" required maxLength={100} className="field" autoComplete="off" />
      </Field>
      {mayShare && (
        <label className="flex items-center gap-2">
          <input type="checkbox" name="shared" />
          For everyone who may read this repository
        </label>
      )}
      {saving.error && (
        <p role="alert" className="text-broken">
          {saving.error.message}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button button-primary" disabled={saving.isPending}>
          {saving.isPending ? 'Saving …' : 'Save'}
        </button>
      </div>
    </form>
  );
}
