/** Axes from what reports say of an environment: few, spelled one way, and the same in every run. */
import { describe, expect, test } from 'bun:test';
import { AXES_MAX, AXIS_NAME_LENGTH_MAX } from '../../src/domain/axes.ts';
import { archOf, browserOf, environmentAxes, nameOfEnvironment, osOf } from '../../src/formats/environment.ts';

const axes = (told: Record<string, string>) => environmentAxes(new Map(Object.entries(told)));

describe('names of an environment', () => {
  test.each([
    [
      { 'os.name': 'Linux', 'os.version': '6.8.0-1017-azure', 'os.arch': 'amd64' },
      { os: 'linux', arch: 'x64' },
    ],
    [{ 'java.version': '21.0.4', 'java.specification.version': '21' }, { java: '21' }],
    [{ 'java.version': '1.8.0_412' }, { java: '8' }],
    [{ 'java.version': '26-ea' }, { java: '26' }],
    [{ 'python.version': '3.13.1' }, { python: '3.13' }],
    [
      { Python: '3.13.1', Platform: 'Linux-6.8.0-1017-azure-x86_64-with-glibc2.39' },
      { python: '3.13', os: 'linux' },
    ],
    [{ 'node.version': 'v24.21.0' }, { node: '24' }],
    [
      { 'ruby.version': '3.4.1', 'php.version': '8.4.2' },
      { ruby: '3.4', php: '8.4' },
    ],
    [{ 'go.version': 'go1.27.3 linux/amd64' }, { go: '1.27', os: 'linux', arch: 'x64' }],
    [{ browserName: 'Chrome 131.0.6778.86' }, { browser: 'chrome' }],
    [{ osPlatform: 'win32', osRelease: '10.0.20348' }, { os: 'windows' }],
  ])('%j are %j', (told, expected) => {
    expect(axes(told)).toEqual(expected);
  });

  test.each([
    ['os.name', 'a system of nobody'],
    ['os', '10.0.19045'],
    ['platform', 'chrome'],
    ['java.version', '/usr/lib/jvm/21'],
    ['python', 'yes'],
    ['browser', '/usr/bin/firefox'],
    ['user.dir', '/home/me/shop'],
    ['hostname', 'ci-7'],
    ['basedir', '/home/me'],
    ['seed', '4711'],
    ['java.home', '/usr/lib/jvm/21'],
    ['java.vm.version', '21.0.4+7-LTS'],
  ])('%s with the value %s is no axis', (name, value) => {
    expect(axes({ [name]: value })).toBeUndefined();
  });

  test('do not depend on the order in which they are told', () => {
    const told = { 'java.version': '1.8.0_412', platform: 'darwin', 'os.name': 'Linux', 'axis.java': 'eight' };
    const entries = Object.entries(told);
    expect(axes(told)).toEqual({ java: 'eight', os: 'linux' });
    expect(environmentAxes(new Map(entries.toReversed()))).toEqual(axes(told));
  });

  test('that begin with axis. or test.axis. are axes with their values as they are', () => {
    expect(axes({ 'axis.os': 'ubuntu-24.04', 'test.axis.db': 'postgres 17', 'os.name': 'Linux' })).toEqual({
      os: 'ubuntu-24.04',
      db: 'postgres 17',
    });
  });

  test('that no axis may have are left out, and with them no others', () => {
    const long = 'x'.repeat(AXIS_NAME_LENGTH_MAX + 1);
    expect(
      axes({ 'axis.': 'x', 'axis.a:b': 'x', [`axis.${long}`]: 'x', 'axis.c': '', 'axis.d': 'x'.repeat(256) }),
    ).toBe(undefined);
    expect(axes({ 'axis.a b': 'x', 'axis.c': 'x' })).toEqual({ c: 'x' });
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`axis.a${i}`, 'x']));
    expect(Object.keys(axes(many) ?? {})).toHaveLength(AXES_MAX);
  });
});

describe('a value has one spelling', () => {
  test.each([
    ['linux', ['Linux', 'linux-gnu', 'GNU/Linux', 'Ubuntu 24.04', 'ubuntu-22.04', 'Debian GNU/Linux 12', 'Alpine']],
    ['macos', ['Mac OS X', 'macOS', 'Darwin', 'darwin23', 'macOS-14']],
    [
      'windows',
      ['Windows 11', 'Windows Server 2022', 'Microsoft Windows 10.0.20348', 'win32', 'Win32NT', 'Windows_NT'],
    ],
    ['android', ['Android 14']],
    ['ios', ['iOS 17.2', 'iPadOS']],
    ['freebsd', ['FreeBSD']],
  ])('%s', (expected, spellings) => {
    expect(spellings.map(osOf)).toEqual(spellings.map(() => expected));
  });
  test.each([
    ['x64', ['amd64', 'x86_64', 'X64', 'AMD64', 'x86-64']],
    ['arm64', ['aarch64', 'ARM64', 'arm64']],
    ['x86', ['i386', 'i686', 'x86', 'ia32']],
    ['s390x', ['s390x']],
  ])('%s', (expected, spellings) => {
    expect(spellings.map(archOf)).toEqual(spellings.map(() => expected));
  });
  test.each([
    ['chromium', ['chromium', 'Chromium 131.0.6778.33', 'HeadlessChromium/131']],
    [
      'chrome',
      [
        'chrome',
        'Google Chrome 131',
        'Chrome Headless 131.0.0.0 (Linux x86_64)',
        'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36',
      ],
    ],
    ['edge', ['msedge', 'Microsoft Edge 131', 'MicrosoftEdge', 'Mozilla/5.0 Chrome/131.0.0.0 Safari/537.36 Edg/131.0']],
    ['firefox', ['Firefox 133.0', 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0']],
    ['safari', ['Safari 18', 'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15']],
    ['webkit', ['WebKit']],
  ])('%s', (expected, spellings) => {
    expect(spellings.map(browserOf)).toEqual(spellings.map(() => expected));
  });
  test('a name that differs from run to run is none', () => {
    expect(['staging', 'eu-west', 'qa2'].map(nameOfEnvironment)).toEqual(['staging', 'eu-west', 'qa2']);
    expect(
      ['pr-1234', '/srv/staging', 'https://7.example.com', '2026-11-21', 'x'.repeat(65), ''].map(nameOfEnvironment),
    ).toEqual([null, null, null, null, null, null]);
  });
});
