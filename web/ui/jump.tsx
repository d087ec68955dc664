/**
 * The jump box: from a number, a hash, a branch, a part of a name or a page to its place, by Ctrl-K or `/`. A combobox that
 * keeps the focus in its field and names the chosen place to readers.
 */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useState } from 'react';
import { Dialog } from './dialog.tsx';
import { formatCounted } from './format.ts';
import { type Place, usePlaces } from './jump-places.ts';

/** Long enough to not ask for every letter. */
const PAUSE_MS = 120;

interface JumpProps {
  owner: string | undefined;
  repository: string | undefined;
}

/** The button in the header, and the keys. */
export function Jump(props: JumpProps) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof HTMLElement && event.target.closest('input, textarea, select, [role=dialog]');
      const isChord = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
      // Where a page has a field that `/` jumps to, it does.
      const isSlash = event.key === '/' && !isTyping && !document.querySelector('[aria-keyshortcuts="/"]');
      if (!isChord && !(isSlash && !event.ctrlKey && !event.metaKey)) return;
      event.preventDefault();
      if (!document.querySelector('[role=dialog]')) setOpen(true);
    };
    document.addEventListener('keydown', open);
    return () => document.removeEventListener('keydown', open);
  }, []);
  return (
    <>
      <button
        type="button"
        className="button text-soft"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
      >
        <span aria-hidden="true">⌕</span>
        <span className="max-sm:sr-only">Jump to …</span>
        <kbd className="rounded border border-line px-1 text-xs max-md:hidden">Ctrl K</kbd>
      </button>
      {isOpen && <Box {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Before the dialog looks for something to focus. */
const focusField = (field: HTMLInputElement | null): void => field?.focus();

function Box({ owner, repository, onClose }: JumpProps & { onClose: () => void }) {
  const id = useId();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [sought, setSought] = useState('');
  const [chosen, setChosen] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setSought(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const { places, isWaiting } = usePlaces(
    owner === undefined || repository === undefined ? null : { owner, repository },
    sought,
  );
  const at = Math.min(chosen, places.length - 1);
  const optionId = (index: number): string => `${id}-${index}`;
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, at]);
  // Enter was pressed before the places of the text were there.
  const [isEager, setEager] = useState(false);
  const isCurrent = text.trim() === sought && !isWaiting;
  const go = (place: Place | undefined) => {
    if (!place) return;
    onClose();
    void navigate(place.link);
  };
  useEffect(() => {
    if (!isEager || !isCurrent) return;
    setEager(false);
    go(places[at]);
  });
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && places.length > 0) {
      event.preventDefault();
      setChosen((at + step + places.length) % places.length);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      if (isCurrent) go(places[at]);
      else {
        setSought(text.trim());
        setEager(true);
      }
    }
  };
  return (
    <Dialog title="Jump to" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label={
          repository === undefined
            ? 'Repository, pull request or page'
            : 'Pull request, commit, branch, test, view or page'
        }
        aria-expanded={places.length > 0}
        aria-controls={`${id}-places`}
        aria-autocomplete="list"
        aria-activedescendant={places.length > 0 ? optionId(at) : undefined}
        placeholder={repository === undefined ? 'Repository, #123 or page' : '#123, commit, branch, test, view or page'}
        className="field w-full"
        ref={focusField}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
          setEager(false);
        }}
        onKeyDown={onKeyDown}
      />
      <p role="status" className="sr-only">
        {isWaiting ? '' : formatCounted(places.length, 'place')}
      </p>
      <div id={`${id}-places`} role="listbox" aria-label="Places" className="mt-2 max-h-80 overflow-y-auto">
        {places.map((place, i) => (
          // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the field has the keys
          <div
            key={place.key}
            id={optionId(i)}
            role="option"
            aria-selected={i === at}
            className="flex cursor-pointer items-baseline gap-3 rounded px-2 py-1.5 aria-selected:bg-raised"
            onClick={() => go(place)}
            onMouseMove={() => setChosen(i)}
          >
            <span className="w-24 shrink-0 text-xs text-soft">{place.kind}</span>
            <span className="min-w-0 flex-1 break-words">{place.label}</span>
          </div>
        ))}
      </div>
      {places.length === 0 && (
        <p className="px-2 py-3 text-soft">
          {isWaiting
            ? 'Looking …'
            : `Nothing is called “${sought}”.${owner === undefined ? '' : ' A test is found once it has run on the default branch.'}`}
        </p>
      )}
    </Dialog>
  );
}
