/** A row with one thing that can be done to it, after which the list is read again. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';

interface ActionRowProps {
  title: string;
  about: string;
  verb: string;
  act: () => Promise<unknown>;
  /** Query key of the list. */
  queryKey: readonly string[];
  children: ReactNode;
}

export function ActionRow({ title, about, verb, act, queryKey, children }: ActionRowProps) {
  const client = useQueryClient();
  const acting = useMutation({ mutationFn: act, onSettled: () => client.invalidateQueries({ queryKey }) });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2 last:border-0">
      <span className="min-w-0 truncate font-medium">{title}</span>
      <span className="min-w-0 break-words text-soft">{about}</span>
      <span className="ml-auto text-xs text-soft">{children}</span>
      <button
        type="button"
        className="button h-7"
        aria-label={`${verb} ${title}`}
        disabled={acting.isPending}
        onClick={() => acting.mutate()}
      >
        {acting.isPending ? '…' : verb}
      </button>
      {acting.error && (
        <p role="alert" className="basis-full text-broken">
          {acting.error.message}
        </p>
      )}
    </li>
  );
}
