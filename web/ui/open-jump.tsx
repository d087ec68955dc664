/** What is in the open jump box (jump.tsx): a field that keeps the focus, and the places that its text may mean. */
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Input } from 'react-aria-components/Input';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { TextField } from 'react-aria-components/TextField';
import type { RepositoryPath } from '../api/queries.ts';
import { formatCounted } from './format.ts';
import { type Place, usePlaces } from './jump-places.ts';
import { useSettled } from './settled.ts';

/** Long enough to not ask for every letter. */
const PAUSE_MS = 120;

/** Keys that choose another place. */
const MOVES = new Set(['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End']);

interface OpenJumpProps {
  /** The repository that one is in; null: none. */
  path: RepositoryPath | null;
  label: string;
  text: string;
  onText: (text: string) => void;
  /** Whether the first place is where to go, as soon as it is known. */
  isEager: boolean;
  onEager: (isEager: boolean) => void;
  onClose: () => void;
}

/** What was typed before this was loaded stays, with the cursor behind it. */
function focusField(field: HTMLInputElement | null): void {
  field?.focus();
  field?.setSelectionRange(field.value.length, field.value.length);
}

export default function OpenJump({ path, label, text, onText, isEager, onEager, onClose }: OpenJumpProps) {
  const navigate = useNavigate();
  const sought = useSettled(text, PAUSE_MS);
  const { places, isWaiting } = usePlaces(path, sought.trim());
  const isCurrent = text === sought && !isWaiting;
  // A new list begins with its first place chosen: when the text changes, and when all its places are there. Once a key has
  // chosen a place, no new list begins until more is typed.
  const [moved, setMoved] = useState<{ sought: string; places: Place[] } | null>(null);
  const [list, setList] = useState({ sought, isWaiting });
  if (!moved && (list.sought !== sought || list.isWaiting !== isWaiting)) setList({ sought, isWaiting });
  // The places that the key chose among stay until all those of the text are there.
  const shown = moved && moved.sought !== sought && isWaiting ? moved.places : places;
  const onInput = (changed: string) => {
    setMoved(null);
    onText(changed);
  };
  const go = (place: Place | undefined) => {
    if (!place) return;
    onClose();
    void navigate(place.link);
  };
  useEffect(() => {
    if (!isEager || !isCurrent) return;
    onEager(false);
    go(places[0]);
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (MOVES.has(event.key)) setMoved({ sought, places: shown });
    // The list takes Enter once its places are all that the text may mean, or once a key has chosen one of those so far.
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || isCurrent || moved) return;
    event.preventDefault();
    event.stopPropagation();
    onEager(true);
  };
  return (
    <div onKeyDownCapture={onKeyDown}>
      <Autocomplete inputValue={text} onInputChange={onInput} disableAutoFocusFirst>
        <TextField aria-label={label}>
          <Input
            role="combobox"
            aria-expanded={shown.length > 0}
            placeholder={
              path === null ? 'Repository, #123 or page' : '#123, commit, branch, test, message, owner or page'
            }
            className="field w-full"
            ref={focusField}
          />
        </TextField>
        <p role="status" className="sr-only">
          {isWaiting ? '' : formatCounted(shown.length, 'place')}
        </p>
        <ListBox
          key={`${list.isWaiting} ${list.sought}`}
          aria-label="Places"
          autoFocus="first"
          shouldFocusWrap
          items={shown}
          className="mt-2 max-h-80 overflow-y-auto"
          renderEmptyState={() => (
            <p className="px-2 py-3 text-soft">
              {isWaiting
                ? 'Looking …'
                : `Nothing is called “${sought.trim()}”.${path === null ? '' : ' A test is found once it has run on the default branch.'}`}
            </p>
          )}
        >
          {(place) => (
            <ListBoxItem
              id={place.key}
              textValue={place.label}
              className="flex cursor-pointer items-baseline gap-3 rounded px-2 py-1.5 outline-none data-focused:bg-raised data-hovered:bg-raised"
              onAction={() => go(place)}
            >
              <span className="w-24 shrink-0 text-xs text-soft">{place.kind}</span>
              <span className="min-w-0 flex-1 break-words">{place.label}</span>
            </ListBoxItem>
          )}
        </ListBox>
      </Autocomplete>
    </div>
  );
}
