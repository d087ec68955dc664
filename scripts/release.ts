/**
 * What a release needs of the checkout: `release version v1.2.3` writes the version of a tag wherever one stands, and
 * `release notes v1.2.3` prints what CHANGELOG.md says of it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Semantic versioning, with the `v` of a tag or without. */
const TAG = /^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/;

/** Throws if it is not a version. */
export function versionOf(tag: string): string {
  const version = TAG.exec(tag)?.[1];
  if (version === undefined) throw new Error(`${tag} is not a version such as v1.2.3`);
  return version;
}

/** The files below `root` that state the version. */
export function filesWithVersion(root: string): string[] {
  const packages = readdirSync(join(root, 'packages')).map((name) => join('packages', name, 'package.json'));
  return ['package.json', ...packages.sort(), 'deploy/helm/Chart.yaml'];
}

/** The text with this version. What depends on other packages of ours follows. */
export function withVersion(text: string, version: string): string {
  return text
    .replace(/^( {2}"version": )"[^"]+"/m, `$1"${version}"`)
    .replace(/^((?:app)?[vV]ersion): .+$/gm, `$1: ${version}`)
    .replace(/("@ci-insights\/[\w-]+": )"\d[^"]*"/g, `$1"${version}"`);
}

/** The section of a version, without its heading; throws if there is none. */
export function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`${version} `) || text.startsWith(`${version}\n`));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}"`);
  return `${section.slice(section.indexOf('\n')).trim()}\n`;
}

if (import.meta.main) {
  const root = resolve(import.meta.dir, '..');
  const [what, tag = ''] = process.argv.slice(2);
  const version = versionOf(tag);
  if (what === 'version') {
    for (const file of filesWithVersion(root)) {
      const path = join(root, file);
      writeFileSync(path, withVersion(readFileSync(path, 'utf8'), version));
    }
    console.log(`The version is ${version}.`);
  } else if (what === 'notes') process.stdout.write(notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version));
  else throw new Error('release version v1.2.3, or release notes v1.2.3');
}
