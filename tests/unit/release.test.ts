import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { filesWithVersion, notesOf, versionOf, withVersion } from '../../scripts/release.ts';

const ROOT = resolve(import.meta.dir, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

test('the version of a tag stands wherever one stands, and nothing else changes', () => {
  for (const file of filesWithVersion(ROOT)) {
    const text = read(file);
    const released = withVersion(text, '7.8.9');
    expect([file, released]).toEqual([file, expect.stringContaining('7.8.9')]);
    expect(withVersion(released, /"?version"?: "?([\d.]+)/.exec(text)?.[1] ?? '')).toBe(text);
  }
});

test('all of them state the same version now', () => {
  const versions = filesWithVersion(ROOT).flatMap((file) =>
    [...read(file).matchAll(/^(?: {2}"version": "|version: |appVersion: )([^"\n]+)/gm)].map(([, version]) => version),
  );
  expect(new Set(versions).size).toBe(1);
});

test('a tag is a version with a v before it, or refused', () => {
  expect(['v1.2.3', '1.2.3', 'v1.2.3-rc.1'].map(versionOf)).toEqual(['1.2.3', '1.2.3', '1.2.3-rc.1']);
  for (const tag of ['', 'v1', 'main', 'v1.2.3; rm', 'v1.2.3+x'])
    expect(() => versionOf(tag)).toThrow('is not a version');
});

test('the notes of a version are its section of the changelog', () => {
  const changelog = '# Changelog\n\n## 2.0.0 (2027-01-02)\n\n- New.\n\n## 1.0.0\n\n- Old.\n';
  expect(notesOf(changelog, '2.0.0')).toBe('- New.\n');
  expect(notesOf(changelog, '1.0.0')).toBe('- Old.\n');
  expect(() => notesOf(changelog, '0.1.0')).toThrow('has no section');
  expect(notesOf(read('CHANGELOG.md'), '1.0.0')).toContain('**Start**');
});
