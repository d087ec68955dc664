/** A field that searches while one types, and that `/` jumps to from anywhere. */
import { useEffect, useRef, useState } from 'react';

/** Long enough to not ask for every letter, short enough to not be noticed. */
const PAUSE_MS = 150;

interface SearchFieldProps {
  label: string;
  placeholder: string;
  value: string;
  onSearch: (text: string) => void;
  /** Whether `/` jumps to it: one field of a page. */
  hasKey?: boolean;
}

export function SearchField({ label, placeholder, value, onSearch, hasKey = true }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const sent = useRef(value);
  // Back and links change the value from outside.
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      onSearch(text);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, onSearch]);
  useEffect(() => {
    if (!hasKey) return;
    const jump = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof HTMLElement && event.target.closest('input, textarea, select, [role=dialog]');
      if (event.key !== '/' || event.ctrlKey || event.metaKey || isTyping) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    document.addEventListener('keydown', jump);
    return () => document.removeEventListener('keydown', jump);
  }, [hasKey]);
  return (
    <div className="relative min-w-56 flex-1">
      <input
        ref={field}
        type="search"
        aria-label={label}
        aria-keyshortcuts={hasKey ? '/' : undefined}
        placeholder={placeholder}
        className="field w-full pr-8"
        value={text}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
      />
      {hasKey && text === '' && (
        <kbd className="pointer-events-none absolute top-1.5 right-2 rounded border border-line px-1.5 text-xs leading-4.5 text-soft max-sm:hidden">
          /
        </kbd>
      )}
    </div>
  );
}
