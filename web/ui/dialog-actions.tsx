/** The last row of a form in a dialog: the way out, and the way on. It stays in view. */

interface DialogActionsProps {
  /** What the form does, such as `Save`. */
  does: string;
  /** While it does so, such as `Saving …`. */
  doing: string;
  isPending: boolean;
  /** Whether there is nothing to send yet. */
  isEmpty?: boolean;
  onClose: () => void;
}

export const DialogActions = ({ does, doing, isPending, isEmpty = false, onClose }: DialogActionsProps) => (
  // Below the padding of the dialog, within which it would stick.
  <div className="sticky -bottom-5 -mx-5 -mb-5 flex justify-end gap-2 border-t border-line bg-card px-5 py-3">
    <button type="button" className="button" onClick={onClose}>
      Cancel
    </button>
    <button
      type="submit"
      className="button button-primary"
      disabled={isEmpty}
      // A button that is disabled loses the focus, and the dialog its keys: Escape would not close it.
      aria-disabled={isPending}
      onClick={(event) => {
        if (isPending) event.preventDefault();
      }}
    >
      {isPending ? doing : does}
    </button>
  </div>
);
