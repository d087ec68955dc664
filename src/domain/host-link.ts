/** Fills templates of links to a repository's host. `web/ui/host-link.ts` does the same in the browser. */

/**
 * A template with each `{name}` replaced, percent-encoded; the slashes of a `path` stay.
 *
 * @returns undefined if a value is missing, or would lead out of the repository
 */
export function linkTo(
  template: string,
  values: Readonly<Record<string, string | number | undefined>>,
): string | undefined {
  let isWhole = true;
  const link = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const text = String(values[name] ?? '');
    if (text === '' || text.split('/').some((part) => part === '.' || part === '..')) isWhole = false;
    return name === 'path' ? text.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(text);
  });
  return isWhole ? link : undefined;
}
