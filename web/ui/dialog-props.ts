/** What a page says of a dialog (dialog.tsx). */
import type { ReactNode } from 'react';

export interface DialogProps {
  title: string;
  onClose: () => void;
  /** Whether closing would lose what was typed: then the dialog asks first. */
  isDirty?: boolean;
  children: ReactNode;
}
