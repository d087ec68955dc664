/** Which lines of two texts differ. */
import { diffArrays } from 'diff';

export interface ComparedLine {
  /** Its place in its text. */
  place: number;
  text: string;
  /** The other text lacks it. */
  differs: boolean;
}

/** Only the beginning of longer texts is compared: the time grows with what differs. */
const LINES_MAX = 2_000;

interface Compared {
  one: ComparedLine[];
  other: ComparedLine[];
  /** Lines that only one of the two has; lines at the same place count once. */
  differing: number;
}

/** Blanks at the ends of lines say nothing. */
export function compareLines(one: string, other: string): Compared {
  const [ours, theirs] = [one, other].map((text) => text.split('\n').slice(0, LINES_MAX));
  const compared: Compared = { one: [], other: [], differing: 0 };
  const changes = diffArrays(ours ?? [], theirs ?? [], { comparator: (a, b) => a.trimEnd() === b.trimEnd() });
  // What is the same comes as it is in the second text.
  let place = 0;
  let removed = 0;
  for (const { added, removed: isRemoved, value } of changes) {
    if (!added) for (const _ of value) compared.one.push(lineAt(compared.one, ours?.[place++] ?? '', isRemoved));
    if (!isRemoved) for (const text of value) compared.other.push(lineAt(compared.other, text, added));
    if (isRemoved) compared.differing += value.length;
    if (added) compared.differing += Math.max(0, value.length - removed);
    removed = isRemoved ? value.length : 0;
  }
  return compared;
}

const lineAt = (before: readonly ComparedLine[], text: string, differs: boolean): ComparedLine => ({
  place: before.length,
  text,
  differs,
});
