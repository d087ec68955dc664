/**
 * Fills a template of links to a repository's host, as `src/domain/host-link.ts` does: each `{name}` is replaced,
 * percent-encoded, and the slashes of a path stay.
 *
 * @returns undefined if a value is missing, or would lead out of the repository
 */
export function fillTemplate(
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
