/** Only open-source clients are installed by the tests: what is refused, and which versions are listed. */
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareByNumbers } from '../../src/versions.ts';
import { licenceRefusal, npmPackage, pythonPackage } from '../clients/support/licences.ts';

const APACHE_TEXT =
  '                                 Apache License\n                           Version 2.0, January 2004';
const CLOSED_TEXT = 'This software is licensed solely for use with the Example service.';

const python = (fields: string, ...texts: string[]) =>
  licenceRefusal(
    pythonPackage(`Metadata-Version: 2.4\nName: client\nVersion: 1.2\n${fields}\n\nLicense: MIT\n`, texts),
  );
const npm = (fields: object, ...texts: string[]) =>
  licenceRefusal(npmPackage(JSON.stringify({ name: 'client', version: '1.2', ...fields }), texts));

describe('a client is refused', () => {
  test.each([
    ['with a proprietary licence expression', python('License-Expression: LicenseRef-Proprietary')],
    ['with a proprietary classifier', python('Classifier: License :: Other/Proprietary License')],
    [
      'with a proprietary classifier beside an open-source one',
      python('Classifier: License :: OSI Approved :: MIT License\nClassifier: License :: Other/Proprietary License'),
    ],
    ['with an open-source expression over another licence file', python('License-Expression: MIT', CLOSED_TEXT)],
    ['that must be used under a closed licence as well', python('License-Expression: MIT AND LicenseRef-Proprietary')],
    ['that names no licence', python('Summary: A client')],
    ['of npm that is unlicensed', npm({ license: 'UNLICENSED' })],
    ['of npm whose licence is in a file', npm({ license: 'SEE LICENSE IN LICENSE.md' }, CLOSED_TEXT)],
    ['of npm that names no licence', npm({})],
    ['of npm with an open-source name over another licence file', npm({ license: 'Apache-2.0' }, CLOSED_TEXT)],
  ])('%s', (_, refusal) => {
    expect(refusal).toStartWith('client 1.2 is not open source: ');
  });
});

test('a client under an open-source licence is accepted, however it says so', () => {
  expect(python('License-Expression: Apache-2.0', APACHE_TEXT)).toBeUndefined();
  expect(python('License-Expression: Apache-2.0 OR LicenseRef-Commercial')).toBeUndefined();
  expect(python('License: Apache License', APACHE_TEXT)).toBeUndefined();
  expect(python('Classifier: License :: OSI Approved :: Apache Software License', APACHE_TEXT)).toBeUndefined();
  expect(npm({ license: '(MIT OR CC0-1.0)' })).toBeUndefined();
  expect(npm({ license: { type: 'Apache-2.0' } }, APACHE_TEXT)).toBeUndefined();
});

describe('the lists of clients', () => {
  const folder = join(import.meta.dir, '../clients/requirements');
  const lists = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')] as const);

  test.each(lists)('%s names an exact version of everything', (_, text) => {
    for (const line of text.trim().split('\n')) expect(line).toMatch(/^(?:#.*|[\w.-]+==[\w.]+)$/);
  });

  test('no mergify client is newer than 2026.10.3, the last one under an open-source licence', () => {
    const versions = lists.flatMap(([, text]) => [...text.matchAll(/^(?:mergify_cli|pytest-mergify)==(.+)$/gm)]);
    expect(versions).toHaveLength(4);
    for (const [line, version = ''] of versions)
      expect([line, compareByNumbers(version, '2026.10.3') <= 0]).toEqual([line, true]);
  });
});
