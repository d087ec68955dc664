/** A dialog: it keeps the focus, closes with Escape and hides the page from readers. */
import { type ReactNode, useState } from 'react';
import { Dialog as Contents, Heading } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';

interface DialogProps {
  title: string;
  onClose: () => void;
  /** Whether closing would lose what was typed: then the dialog asks first. */
  isDirty?: boolean;
  children: ReactNode;
}

/** Open as long as it is rendered. Afterwards the focus is where it was before. */
export function Dialog({ title, onClose, isDirty = false, children }: DialogProps) {
  const [isAsking, setAsking] = useState(false);
  const close = () => {
    if (isDirty) setAsking(true);
    else onClose();
  };
  return (
    <ModalOverlay
      isOpen
      className="fixed inset-0 z-30 flex items-center justify-center overflow-y-auto bg-black/45 p-4"
      onOpenChange={close}
    >
      <Modal className="card w-full max-w-lg text-ink shadow-xl">
        <Contents className="flex max-h-[calc(100dvh-2rem)] flex-col outline-none">
          <div className="flex items-center justify-between border-b border-line px-5 py-3">
            <Heading slot="title" level={2} className="font-semibold">
              {title}
            </Heading>
            <button type="button" className="button border-transparent px-2" aria-label="Close" onClick={close}>
              ✕
            </button>
          </div>
          {isAsking && (
            <div role="alert" className="flex flex-wrap items-center gap-2 border-b border-line bg-raised px-5 py-2">
              <span className="mr-auto">Close it and lose what you typed?</span>
              <button type="button" className="button h-7" onClick={onClose}>
                Close it
              </button>
              <button type="button" className="button h-7" onClick={() => setAsking(false)}>
                Go on
              </button>
            </div>
          )}
          <div className="overflow-y-auto p-5">{children}</div>
        </Contents>
      </Modal>
    </ModalOverlay>
  );
}
