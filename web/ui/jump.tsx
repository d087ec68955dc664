/**
 * The jump box: from a number, a hash, a branch, a part of a name or a page to its place, by Ctrl-K or `/`. What finds the
 * places is loaded when the box opens first. Until then, a plain field takes what is typed, so that no key is lost.
 */
import { lazy, Suspense, useEffect, useState } from 'react';
import { Dialog } from './dialog.tsx';

const loadBox = () => import('./open-jump.tsx');
const OpenJump = lazy(loadBox);

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
        onPointerEnter={() => void loadBox()}
        onFocus={() => void loadBox()}
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
  const [text, setText] = useState('');
  // Enter was pressed before the places of the text were there.
  const [isEager, setEager] = useState(false);
  const onText = (changed: string) => {
    setText(changed);
    setEager(false);
  };
  const isWithin = owner !== undefined && repository !== undefined;
  const label = isWithin
    ? 'Pull request, commit, branch, test, message, owner, view or page'
    : 'Repository, pull request or page';
  return (
    <Dialog title="Jump to" onClose={onClose}>
      <Suspense
        fallback={
          <input
            aria-label={label}
            className="field w-full"
            ref={focusField}
            value={text}
            onChange={(event) => onText(event.target.value)}
            onKeyDown={(event) => event.key === 'Enter' && setEager(true)}
          />
        }
      >
        <OpenJump
          path={isWithin ? { owner, repository } : null}
          label={label}
          text={text}
          onText={onText}
          isEager={isEager}
          onEager={setEager}
          onClose={onClose}
        />
      </Suspense>
    </Dialog>
  );
}
