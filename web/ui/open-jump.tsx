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
  // Another text has another list, of which the first place is chosen; so has one that is complete, unless an arrow has
  // chosen a place already.
  const [hasMoved, setMoved] = useState(false);
  const [list, setList] = useState({ sought, isWaiting });
  if (list.sought !== sought || (list.isWaiting !== isWaiting && !hasMoved)) setList({ sought, isWaiting });
  const onInput = (changed: string) => {
    setMoved(false);
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
  /** The list takes Enter once its places are all that the text may mean, or once an arrow has chosen one of those so far. */
  const isListReady = isCurrent || (hasMoved && text === sought);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') setMoved(true);
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || isListReady) return;
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
            aria-expanded={places.length > 0}
            placeholder={
              path === null ? 'Repository, #123 or page' : '#123, commit, branch, test, message, owner or page'
            }
            className="field w-full"
            ref={focusField}
          />
        </TextField>
        <p role="status" className="sr-only">
          {isWaiting ? '' : formatCounted(places.length, 'place')}
        </p>
        <ListBox
          key={`${list.isWaiting} ${list.sought}`}
          aria-label="Places"
          autoFocus="first"
          shouldFocusWrap
          items={places}
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
