/**
 * The identifiers of repositories, tests, failure groups, executions and events.
 *
 * Each is computed from what it names, so every process arrives at the same identifier, and a resent upload names the
 * same things. Nothing here may ever change: stored rows depend on it.
 */
import { hash } from 'node:crypto';
import { v5 as uuid5 } from 'uuid';
import type { RunOrigin } from './default-branch.ts';
import { VARIANT_BITS } from './result-variant.ts';
import type { Refusal } from './upload-origin.ts';

/** The namespace of repository ids: drawn at random once, for this project. */
const REPOSITORY_NAMESPACE = '5d0f6a1e-7c1b-4a52-9c0e-3b1d2f8a6e47';

/** The host of a repository whose producer names none. */
export const DEFAULT_HOST = 'github.com';

/**
 * uuid5 of the lower-cased `host/owner/name`. A generation above 0 is for a path that another repository had before.
 */
export function repositoryIdOf(host: string, owner: string, name: string, generation = 0): string {
  const path = `${host}/${owner}/${name}`.toLowerCase();
  return uuid5(generation === 0 ? path : `${path}#${generation}`, REPOSITORY_NAMESPACE);
}

const ACCOUNT_ID_BITS = 48n;

/** A number for an owner, for clients that want one: 48 bits of a uuid5, so JSON carries it without loss. Never 0. */
export function accountIdOf(owner: string): number {
  const uuid = BigInt(`0x${uuid5(owner.toLowerCase(), REPOSITORY_NAMESPACE).replaceAll('-', '')}`);
  return Number(uuid >> (128n - ACCOUNT_ID_BITS)) || 1;
}

/** uuid5 of the test's name in the namespace of its repository: one test, whichever pipelines and CI jobs run it. */
export function testIdOf(repositoryId: string, testName: string): string {
  return uuid5(testName, repositoryId);
}

const TEST_IDS_MAX = 100_000;

/**
 * {@link testIdOf} with a cache: the same few thousand names come with every run, and each costs two microseconds. A
 * map that is emptied when full, because this runs for every execution, and an LRU cache takes half as long again per
 * lookup.
 */
export class TestIds {
  /** By repository id, then by name: a key of both would be put together for each lookup. */
  readonly #known = new Map<string, Map<string, string>>();
  #size = 0;

  of(repositoryId: string, testName: string): string {
    const known = this.#known.get(repositoryId)?.get(testName);
    return known ?? this.#make(repositoryId, testName);
  }

  #make(repositoryId: string, testName: string): string {
    if (this.#size >= TEST_IDS_MAX) {
      this.#known.clear();
      this.#size = 0;
    }
    const made = testIdOf(repositoryId, testName);
    const names = this.#known.get(repositoryId) ?? new Map<string, string>();
    this.#known.set(repositoryId, names.set(testName, made));
    this.#size++;
    return made;
  }
}

/** uuid5 of what two failures of a test have in common; the version of the fingerprint is part of it. */
export function failureIdOf(
  testId: string,
  fingerprintVersion: number,
  exceptionType: string,
  normalisedMessage: string,
): string {
  return uuid5(`${fingerprintVersion}\0${exceptionType}\0${normalisedMessage}`, testId);
}

/**
 * The ledger's key of a source: an OTLP trace, or a report of a run. The commit and what decides about the default branch
 * are part of it, so results of a pull request never stand for those of main, whatever run they name. So are the axes:
 * legs of a matrix send reports of one name.
 */
export function sourceKeyOf(
  repositoryId: string,
  source: string,
  { branch, baseRef, pullRequest, commit, axes }: RunOrigin & { commit: string; axes: string },
): string {
  return uuid5(`source\0${JSON.stringify([source, branch, baseRef, pullRequest, commit, axes])}`, repositoryId);
}

/** Names what a pipeline ran for a commit, over all its CI jobs and attempts. */
export function runKeyOf(
  repositoryId: string,
  { pipelineName, runId, commit }: { pipelineName: string; runId: string; commit: string },
): string {
  return uuid5(`run\0${JSON.stringify([pipelineName, runId, commit])}`, repositoryId);
}

const ID_BITS = 64n;
const VARIANT_SHIFT = ID_BITS - BigInt(VARIANT_BITS);

/**
 * 64 bits, unsigned, that name a result of a test within its source. Its variants differ in the upper bits only, so the
 * ledger sees that the same test came with another result ({@link splitExecutionId}).
 *
 * @param key names the execution within its source
 * @param variant {@link variantOf}
 */
export function executionIdOf(sourceKey: string, key: string, testName: string, variant: number): bigint {
  const id = hash('sha1', `${sourceKey}\0${key}\0${testName}`, 'buffer').readBigUInt64BE(0);
  return variant === 0 ? id : id ^ (BigInt(variant) << VARIANT_SHIFT);
}

/** Bits of the place, so that variants stay what they are. */
const LEG_SHIFT = VARIANT_SHIFT - 4n;

/** The id of the same result in an unnamed leg, from 1 to 16; that of the first is the id itself. */
export const executionIdInLeg = (id: bigint, leg: number): bigint =>
  leg === 1 ? id : id ^ (BigInt(leg - 1) << LEG_SHIFT);

const HALF = 2 ** 32;
const PLACE_BITS_OF_UPPER = 32 - VARIANT_BITS;

/**
 * The part of an id that all results of one test in its source share, as a number of 52 bits, and the rest of the id.
 *
 * @param upper the upper 32 bits of the id
 * @param lower the lower ones
 */
export const splitExecutionId = (upper: number, lower: number): { place: number; variant: number } => ({
  place: (upper & ((1 << PLACE_BITS_OF_UPPER) - 1)) * HALF + lower,
  variant: upper >>> PLACE_BITS_OF_UPPER,
});

/** Names refused uploads that are listed as one. */
export function refusalKindOf({ owner, repository, ...refusal }: Refusal): string {
  const { pipelineName, jobName, branch, format, sender, reason } = refusal;
  const path = `${owner}/${repository}`.toLowerCase();
  return uuid5(
    `refusal\0${JSON.stringify([path, pipelineName, jobName, branch, format, sender, reason])}`,
    REPOSITORY_NAMESPACE,
  );
}

/** The event log's key of an event that a producer may send again. */
export function eventKeyOf(repositoryId: string, key: string): string {
  return uuid5(`event\0${key}`, repositoryId);
}

/** Names what a run splits into groups: its leg, and how. The list itself is not part of it: see {@link listKeyOf}. */
export function splitKeyOf(split: {
  pipelineName: string | null;
  jobName: string | null;
  axes: string;
  runId: string;
  by: string;
  total: number;
  list: string | null;
}): string {
  const { pipelineName, jobName, axes, runId, by, total, list } = split;
  return uuid5(`split\0${JSON.stringify([pipelineName, jobName, axes, runId, by, total, list])}`, REPOSITORY_NAMESPACE);
}

/** Names a list of names. */
export const listKeyOf = (names: readonly string[]): string => uuid5(JSON.stringify(names), REPOSITORY_NAMESPACE);
