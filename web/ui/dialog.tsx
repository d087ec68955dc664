/** A dialog: it keeps the focus, closes with Escape and hides the page from readers. Its parts are loaded when it opens. */
import { lazy, Suspense } from 'react';
import type { DialogProps } from './dialog-props.ts';

/** Called ahead where one types at once. */
export const loadDialog = () => import('./open-dialog.tsx');
const OpenDialog = lazy(loadDialog);

/** Open as long as it is rendered. Afterwards the focus is where it was before. */
export const Dialog = (props: DialogProps) => (
  <Suspense>
    <OpenDialog {...props} />
  </Suspense>
);
