/**
 * From what a report says of its environment to axes. They name a leg, so there are few, each has one spelling, and its
 * value is the same in every run until people change something: `3.13` and not `3.13.1`, no paths, no machines. Pure.
 */
import { type Axes, axesRejection, joinedAxes } from '../domain/axes.ts';

/** Text that is longer is no name of anything, and is not looked at. */
const TEXT_LENGTH_MAX = 1_000;

type Read = (value: string) => Readonly<Record<string, string | null>>;

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/^(?:microsoft )?win(?:dows|32|64|nt)/, 'windows'],
  [/^(?:mac ?os|os x|darwin)/, 'macos'],
  [/^(?:ios|ipados)\b/, 'ios'],
  [/^android\b/, 'android'],
  [/^(?:free|open|net)bsd\b/, 'bsd'],
  [
    /^(?:gnu\/)?(?:linux|ubuntu|debian|fedora|centos|red hat|rhel|alpine|amazon linux|rocky|almalinux|(?:open)?suse|arch linux)/,
    'linux',
  ],
];

/** `linux`, `macos`, `windows` and the like; null for what is no operating system that we know. */
export function osOf(text: string): string | null {
  const name = text.slice(0, TEXT_LENGTH_MAX).trim().toLowerCase();
  const known = SYSTEMS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
  return known === 'bsd' ? name.slice(0, name.indexOf('bsd') + 3) : known;
}

const ARCHITECTURES: Readonly<Record<string, string>> = {
  ...{ amd64: 'x64', x86_64: 'x64', 'x86-64': 'x64', x64: 'x64', k8: 'x64' },
  ...{ aarch64: 'arm64', arm64: 'arm64' },
  ...{ x86: 'x86', i386: 'x86', i586: 'x86', i686: 'x86', ia32: 'x86', '386': 'x86' },
  ...{ arm: 'arm', arm32: 'arm', armv7l: 'arm', armv7: 'arm' },
};

/** `x64`, `arm64` and the like. */
export function archOf(text: string): string | null {
  const name = text.trim().toLowerCase();
  if (Object.hasOwn(ARCHITECTURES, name)) return ARCHITECTURES[name] ?? null;
  return /^(?:ppc64|ppc64le|s390x?|riscv64|loong(?:arch)?64|mips\w{0,8}|wasm32)$/.test(name) ? name : null;
}

const AGENTS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'edge'],
  [/\bOPR\//, 'opera'],
  [/\bFirefox\//, 'firefox'],
  [/Chrome\//, 'chrome'],
  [/\bSafari\//, 'safari'],
];
const BROWSERS: Readonly<Record<string, string>> = { msedge: 'edge', microsoftedge: 'edge', 'internet explorer': 'ie' };

/** The name without a version, of which there is a new one every month; from the text of a user agent, too. */
export function browserOf(text: string): string | null {
  const told = text.slice(0, TEXT_LENGTH_MAX).trim();
  if (told.startsWith('Mozilla/')) return AGENTS.find(([pattern]) => pattern.test(told))?.[1] ?? null;
  const [name = ''] = told.toLowerCase().split(/[\d(/]/, 1);
  const words = name
    .replace(/headless|google |microsoft /g, ' ')
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
  const browser = words.join(' ');
  return words.length === 0 || words.length > 3 || browser.length > 30 ? null : (BROWSERS[browser] ?? browser);
}

/** Names of people's own, such as `staging`. Numbers tell a preview of a pull request or a day. */
export const nameOfEnvironment = (text: string): string | null =>
  /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u.test(text) && !/\d{2}/.test(text) ? text : null;

/** `iPhone 15 Pro`, `Pixel 8`; not a serial number or the port of an emulator. */
export const deviceOf = (text: string): string | null =>
  /^[\p{L}][\p{L}\p{N} ().,"_+-]{0,63}$/u.test(text) && !/\d{4}|[\da-f]{8}/i.test(text) ? text : null;

const majorMinorOf = (text: string): string | null => /^v?(\d{1,4}(?:\.\d{1,4})?)(?![\d/\\])/.exec(text)?.[1] ?? null;
/** A new version of Node comes every two weeks, so only the first number lasts. */
const majorOf = (text: string): string | null => /^v?(\d{1,4})(?![\d/\\])/.exec(text)?.[1] ?? null;
/** `1.8.0_412` is Java 8. */
const javaOf = (text: string): string | null => majorOf(text.replace(/^1\.(?=\d)/, ''));

/** `go1.27.3 linux/amd64` */
function goAxes(text: string): Readonly<Record<string, string | null>> {
  const [, version, os = '', arch = ''] =
    /^(?:go)?(\d{1,4}\.\d{1,4})[\w.-]{0,40}(?: (\w{1,20})\/(\w{1,20}))?/.exec(text) ?? [];
  return { go: version ?? null, os: osOf(os), arch: archOf(arch) };
}

const axis =
  (name: string, read: (text: string) => string | null): Read =>
  (text) => ({ [name]: read(text) });

/** By names in lower case. Of several that tell the same axis, the first here counts. */
const KNOWN: ReadonlyMap<string, Read> = new Map([
  ...['os', 'os.name', 'os.type', 'osplatform', 'platform'].map((name) => [name, axis('os', osOf)] as const),
  ...['arch', 'os.arch', 'host.arch', 'architecture'].map((name) => [name, axis('arch', archOf)] as const),
  ...['java.specification.version', 'java.version'].map((name) => [name, axis('java', javaOf)] as const),
  ...['python', 'python.version'].map((name) => [name, axis('python', majorMinorOf)] as const),
  ...['node', 'node.version'].map((name) => [name, axis('node', majorOf)] as const),
  ...['ruby', 'ruby.version'].map((name) => [name, axis('ruby', majorMinorOf)] as const),
  ...['php', 'php.version'].map((name) => [name, axis('php', majorMinorOf)] as const),
  ...['dotnet', 'dotnet.version'].map((name) => [name, axis('dotnet', majorMinorOf)] as const),
  ['go.version', goAxes],
  ...['browser', 'browsername', 'browser.name', 'browser.fullname'].map(
    (name) => [name, axis('browser', browserOf)] as const,
  ),
]);

const OWN = /^(?:test\.)?axis\./;

/** Whether a name may tell an axis that its writer meant as one: `axis.db`, `test.axis.db`. */
export const isOwnAxis = (name: string): boolean => OWN.test(name);

/** Whether a name may tell an axis. Others need not be kept. */
export const mayTellAxis = (name: string): boolean => isOwnAxis(name) || KNOWN.has(name.toLowerCase());

/** The axes that names and values tell, whatever their order; undefined for none. What its writer named counts more. */
export function environmentAxes(told: ReadonlyMap<string, string>): Axes | undefined {
  const byName = new Map([...told].toReversed().map(([name, value]) => [name.toLowerCase(), value]));
  const known = [...KNOWN].map(([name, read]) => {
    const value = byName.get(name);
    return value === undefined ? {} : read(value.trim());
  });
  const own = [...told]
    .filter(([name]) => isOwnAxis(name))
    .map(([name, value]) => ({ [name.replace(OWN, '')]: value }));
  return axesFrom(...own, ...known);
}

/** The first value of each name, without what cannot be stored; undefined for none. */
export function axesFrom(...parts: readonly Readonly<Record<string, string | null>>[]): Axes | undefined {
  const one = parts.flatMap((part) =>
    Object.entries(part).flatMap(([name, value]) => {
      const entry = value === null ? null : { [name]: value };
      return entry !== null && axesRejection(entry) === null ? [entry] : [];
    }),
  );
  return joinedAxes(...one);
}

/** The axes of a program that runs tests, by the name it gives itself: `cpython`, `Node.js`, `OpenJDK 64-Bit Server VM`. */
export function runtimeAxes(name: string, version: string): Axes | undefined {
  const word = name.toLowerCase();
  if (/^node(?:\.?js)?$/.test(word)) return axesFrom({ node: majorOf(version) });
  // The machine of Java 8 has other versions, such as `25.412-b08`.
  if (/jdk|java|jre|hotspot|openj9/.test(word))
    return axesFrom({ java: /\+|^1\./.test(version) ? javaOf(version) : null });
  if (/^(?:c?python)$/.test(word)) return axesFrom({ python: majorMinorOf(version) });
  if (word === 'go') return axesFrom({ go: goAxes(version).go ?? null });
  if (/^\.net\b/.test(word)) return axesFrom({ dotnet: majorMinorOf(version) });
  return /^(?:pypy|jython|ruby|jruby|truffleruby|bun|deno|php)$/.test(word)
    ? axesFrom({ [word]: majorMinorOf(version) })
    : undefined;
}
