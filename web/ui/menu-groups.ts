/** What a menu offers. */

interface MenuItem {
  id: string;
  label: string;
  /** Says more, in a second line. */
  hint?: string;
  isDisabled?: boolean;
}

export interface MenuGroup {
  title: string;
  items: readonly MenuItem[];
  /** Chosen ones have a mark; absent: each item is an action. */
  chosen?: readonly string[];
  /** Whether several may be chosen; the menu stays open then. */
  isMultiple?: boolean;
  /** Called with the item that was pressed, and with all that are chosen then. */
  onChoose: (id: string, chosen: readonly string[]) => void;
}
