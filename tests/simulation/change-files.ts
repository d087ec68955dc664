/**
 * Which files a made-up change touches. A test has its file and the source that it is for, among others in its folder. A change is about
 * one of them; one that breaks tests is mostly about a test that it breaks, and now and then about something far away.
 */

const FOLDERS = 20;
/** What a change that breaks a test touches nearest to it: the test's file, its source, another file of the folder; or none of these. */
const NEAREST = { file: 0.2, name: 0.35, folder: 0.2 } as const;
const MORE_FILES_MAX = 4;

const folderOf = (test: number): string => `src/area${test % FOLDERS}`;
export const fileOfTest = (test: number): string => `${folderOf(test)}/test_topic${test}.py`;
const sourceOf = (test: number): string => `${folderOf(test)}/topic${test}.py`;

/**
 * @param victims tests that the change breaks; none: it is about any test
 * @param tests how many there are
 */
export function changedFiles(victims: readonly number[], tests: number, random: () => number): string[] {
  const any = Math.floor(random() * tests);
  const about = victims[Math.floor(random() * victims.length)] ?? any;
  const luck = random();
  const { file, name, folder } = NEAREST;
  const nearest =
    luck < file
      ? fileOfTest(about)
      : luck < file + name
        ? sourceOf(about)
        : luck < file + name + folder
          ? `${folderOf(about)}/part${about}.py`
          : sourceOf(any);
  const more = Array.from({ length: Math.floor(random() * MORE_FILES_MAX) }, () =>
    random() < 0.7
      ? `${nearest.slice(0, nearest.lastIndexOf('/'))}/part${any}.py`
      : sourceOf(Math.floor(random() * tests)),
  );
  return [nearest, ...more];
}
