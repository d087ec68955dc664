/** A dialog on the platform's own element: it keeps the focus, closes with Escape and hides the page from readers. */
import { type ReactNode, useEffect, useRef } from 'react';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** Open as long as it is rendered. Afterwards the focus is where it was before. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-label={title}
      onClose={onClose}
      className="card m-auto w-full max-w-lg p-0 text-ink shadow-xl"
    >
      <div className="flex items-center justify-between border-b border-line px-5 py-3">
        <h2 className="font-semibold">{title}</h2>
        <button
          type="button"
          className="button border-transparent px-2"
          aria-label="Close"
          onClick={() => element.current?.close()}
        >
          ✕
        </button>
      </div>
      <div className="p-5">{children}</div>
    </dialog>
  );
}
