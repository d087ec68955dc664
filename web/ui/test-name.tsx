/** The name of a test on one line. What does not fit is left out in the middle, because names differ at their end. */

/** The tail that is never cut, from the next word on; it fits on a phone. */
const END_CHARS = 28;
const WORD_CHARS_MAX = 12;

/** Decorative: what contains it needs the whole name as its label. */
export function TestName({ name }: { name: string }) {
  // Each line break becomes a space, and spaces at the seam stay.
  const line = name.replace(/\s/g, ' ');
  const last = [...line.slice(-2 * END_CHARS)].slice(-END_CHARS).join('');
  const word = last.indexOf(' ') + 1;
  const end = last.slice(word <= WORD_CHARS_MAX ? word : 0);
  return (
    <span className="flex min-w-0" data-hint={name} data-hint-when="cut">
      <span className="overflow-hidden text-ellipsis whitespace-pre">{line.slice(0, line.length - end.length)}</span>
      <span className="shrink-0 whitespace-pre">{end}</span>
    </span>
  );
}
