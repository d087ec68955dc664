/** Names for tests of one report that have the same name: docs/executions.md. */

/** Where a record stands in its report, as far as that tells it from namesakes. */
export interface Home {
  /** The suites around it, from the outermost in. */
  suites: readonly string[];
  file: string | null;
  /** A variant for which one runner ran the same files, such as a browser. */
  project: string | null;
  /** The class that the report gives; null if it says nothing about the test. */
  className: string | null;
  /** The name within the class. */
  ownName: string;
}

/** Names for tests that have one name in several homes. They hold what differs and not what all have in common. */
export function namesOf(name: string, homes: readonly Home[]): string[] {
  const byProject = varies(homes, ({ project }) => project);
  const bySuites = varies(homes, pathOf);
  const rest = new Set(homes.map((home) => `${home.project ?? ''}\0${pathOf(home)}`));
  const byFile = rest.size < homes.length;
  const folderLength = byFile ? commonFolderLength(homes.map(({ file }) => file ?? '')) : 0;
  return homes.map((home) => {
    const { project, className, ownName, suites } = home;
    if (byProject && project !== null) return [`[${project}]`, className, ownName].filter((part) => part).join(' › ');
    const around = suites.at(-1) === className ? suites.slice(0, -1) : suites;
    const file = byFile && home.file !== null ? home.file.slice(folderLength) : '';
    const difference = [...(bySuites ? around : []), file].filter((part) => part !== '');
    // A test in no suite keeps the name.
    return difference.length === 0 ? name : [...difference, className, ownName].filter((part) => part).join('.');
  });
}

/** Equal for records in one place. */
export const homeKey = ({ suites, file, project }: Home): string => JSON.stringify([suites, file, project]);

const pathOf = ({ suites }: Home): string => JSON.stringify(suites);

const varies = (homes: readonly Home[], partOf: (home: Home) => string | null): boolean =>
  new Set(homes.map(partOf)).size > 1;

/** `/home/me/shop/a/x.js` and `/home/me/shop/b/x.js`: that of `/home/me/shop/`, which differs between machines. */
function commonFolderLength([first = '', ...others]: readonly string[]): number {
  let length = first.length;
  for (const other of others) {
    let same = 0;
    while (same < length && first[same] === other[same]) same++;
    length = same;
  }
  const common = first.slice(0, length);
  return Math.max(common.lastIndexOf('/'), common.lastIndexOf('\\')) + 1;
}
