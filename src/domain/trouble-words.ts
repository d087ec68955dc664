/** What shows that trouble explains a failure, in words that the page and the gate share. Pure. */

interface ShownTrouble {
  /** One of `TROUBLE_SIGNS`, or a word of a newer service. */
  sign: string;
  changes: number;
  isOnDefaultBranch: boolean;
}

/** A sentence without a beginning and an end; null if the sign is the run itself, or not known. */
export function troubleInWords({ sign, changes, isOnDefaultBranch }: ShownTrouble): string | null {
  const others = `${changes} other change${changes === 1 ? '' : 's'}${isOnDefaultBranch ? ' and the default branch' : ''}`;
  if (sign === 'same_failures') return `the same tests failed alike on ${others} at the time`;
  if (sign === 'same_message') return `tests failed with the same message on ${others} within the hour`;
  if (sign === 'rerun') return 'nearly all that failed with it passed when the job ran again';
  return null;
}
