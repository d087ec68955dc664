/** A leg of a CI job in words: `unit` without axes, else `unit (os=windows, python=3.13)`. */
export const legWords = (job: string, axes: Readonly<Record<string, string>>): string => {
  const values = Object.entries(axes).map(([name, value]) => `${name}=${value}`);
  return values.length === 0 ? job : `${job} (${values.join(', ')})`;
};

const LEGS_SHOWN_MAX = 3;

/** The legs in which a test failed: the job alone if it has no axes, at most three by name. */
export function legsWords(job: string, legs: readonly { axes: Readonly<Record<string, string>> }[]): string {
  const [first] = legs;
  if (!first || legs.every(({ axes }) => Object.keys(axes).length === 0)) return job;
  const shown = legs.slice(0, LEGS_SHOWN_MAX).map(({ axes }) => legWords('', axes).trim() || '(no axes)');
  const more = legs.length > shown.length ? ` and ${legs.length - shown.length} more` : '';
  return `${job} ${shown.join(' ')}${more}`;
}
