/**
 * Who is who: the identifiers of repositories, tests, failure groups and executions (design §4).
 *
 * All of them are functions of what they name, so that any process computes the same identifier and an upload that is
 * sent again names the same things. Nothing here may ever change: stored rows depend on it.
 */
import { hash } from 'node:crypto';
import { v5 as uuid5 } from 'uuid';

/** The namespace of repositories: the project's own, drawn once at random. */
export const REPOSITORY_NAMESPACE = '5d0f6a1e-7c1b-4a52-9c0e-3b1d2f8a6e47';

/** The first host name is the default where a producer names none. */
export const DEFAULT_HOST = 'github.com';

/** uuid5 of the lower-cased `host/owner/name`; a generation above 0 is for a name that was taken before. */
export function repositoryIdOf(host: string, owner: string, name: string, generation = 0): string {
  const path = `${host}/${owner}/${name}`.toLowerCase();
  return uuid5(generation === 0 ? path : `${path}#${generation}`, REPOSITORY_NAMESPACE);
}

const ACCOUNT_ID_BITS = 48n;

/** A whole number for an owner, for clients that read one: 48 bits of a uuid5, so JSON carries it without loss. Never 0. */
export function accountIdOf(owner: string): number {
  const uuid = BigInt(`0x${uuid5(owner.toLowerCase(), REPOSITORY_NAMESPACE).replaceAll('-', '')}`);
  return Number(uuid >> (128n - ACCOUNT_ID_BITS)) || 1;
}

/** uuid5 of the test's name in the namespace of its repository: one test, whatever pipelines and jobs run it. */
export function testIdOf(repositoryId: string, testName: string): string {
  return uuid5(testName, repositoryId);
}

const TEST_IDS_MAX = 100_000;

/** {@link testIdOf} that remembers: the same few thousand names come with every run, and each costs two microseconds. */
export class TestIds {
  readonly #known = new Map<string, string>();

  of(repositoryId: string, testName: string): string {
    const key = repositoryId + testName;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= TEST_IDS_MAX) this.#known.clear();
    const made = testIdOf(repositoryId, testName);
    this.#known.set(key, made);
    return made;
  }
}

/** uuid5 over what makes two failures of a test the same one; the fingerprint's version is part of it (design §7). */
export function failureIdOf(
  testId: string,
  fingerprintVersion: number,
  exceptionType: string,
  normalisedMessage: string,
): string {
  return uuid5(`${fingerprintVersion}\0${exceptionType}\0${normalisedMessage}`, testId);
}

/** The unit that a source resends (an OTLP trace, a JUnit report) as the ledger knows it. */
export function sourceKeyOf(repositoryId: string, source: string): string {
  return uuid5(`source\0${source}`, repositoryId);
}

/** 64 bits that name one execution within its source; unsigned, as a bigint. */
export function executionIdOf(sourceKey: string, key: string): bigint {
  return hash('sha1', `${sourceKey}\0${key}`, 'buffer').readBigUInt64BE(0);
}

/** An event that a producer may send again, as the event log knows it. */
export function eventKeyOf(repositoryId: string, key: string): string {
  return uuid5(`event\0${key}`, repositoryId);
}
