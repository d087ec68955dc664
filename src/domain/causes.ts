/**
 * Causes: what many failures have in common, across tests, legs and commits. Failures of one signature
 * (src/domain/cause-signature.ts) and episode are a *node*; nodes that break out together in one run, or that begin with the
 * same runs, are one cause. docs/judgements.md has the rule and docs/judgement-quality.md how often it is right.
 *
 *     failures ─► signature ─► episode ─► node ─► burst ─► together ─► cause
 *
 * The order of the failures does not matter. Joins look back only, so failures of later runs add members and join
 * causes, and never part them.
 */
import { v5 as uuid5 } from 'uuid';
import { joinBursts } from './cause-bursts.ts';
import type { FailedInRun, Node } from './cause-node.ts';
import { CAUSE_VERSION } from './cause-signature.ts';
import { Components } from './components.ts';
import { DAY_MS, HOUR_MS } from './time.ts';

/** A message that was away for longer may come back for another reason. */
const AWAY_MS = 14 * DAY_MS;
/** In the first days that are retained, what is usual cannot be known: what began then is joined to nothing more. */
const HISTORY_MS = 7 * DAY_MS;
/** So many first runs must be the same for two groups that begin together. */
const FIRST_RUNS = 4;
/** A group in more files is too wide for a file to say anything. */
const FILES_MAX = 3;
const SHARED_WORD_LENGTH_MIN = 4;
/** Words that the repository's messages had before are its own phrases: they say nothing about what began now. */
const NEW_WORD_MS = 3 * HOUR_MS;

/** A node as it was stored: it keeps its id, its beginning and its cause. */
export interface KnownNode {
  id: string;
  signatureId: string;
  causeId: string;
  firstAt: number;
}

/** A node with its cause. */
export interface CauseNode<F extends FailedInRun = FailedInRun> extends Node<F> {
  /** The id of the oldest node of its cause. */
  causeId: string;
}

interface Run {
  key: string;
  at: number;
}

/**
 * Joins the failures of a repository to causes.
 *
 * @returns the nodes, each with its cause; and by id, the cause of each known node whose failures have left
 */
export function findCauses<F extends FailedInRun>(
  repositoryId: string,
  failures: readonly F[],
  known: readonly KnownNode[] = [],
): { nodes: CauseNode<F>[]; gone: Map<string, string> } {
  const runs = runsOf(failures);
  const nodes = nodesOf(repositoryId, failures, runs, known);
  const components = new Components(nodes.length);
  const since = leastOf([...runs.values()].map(({ at }) => at)) + HISTORY_MS;
  joinBursts(nodes, runs, { components, since });
  joinTogether(nodes, runs, { components, since });
  return nameCauses(nodes, known, components);
}

/** When each run began to fail. */
function runsOf(failures: readonly FailedInRun[]): Map<string, Run> {
  const runs = new Map<string, Run>();
  for (const { run, failedAt } of failures) {
    const found = runs.get(run);
    if (!found) runs.set(run, { key: run, at: failedAt });
    else if (failedAt < found.at) found.at = failedAt;
  }
  return runs;
}

const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
const compareRuns = (one: Run, other: Run): number => one.at - other.at || compareText(one.key, other.key);

/** The failures by signature and episode, the oldest node first. */
function nodesOf<F extends FailedInRun>(
  repositoryId: string,
  failures: readonly F[],
  runs: ReadonlyMap<string, Run>,
  known: readonly KnownNode[],
): Node<F>[] {
  const knownOf = Map.groupBy(known, ({ signatureId }) => signatureId);
  const nodes = [...Map.groupBy(failures, ({ signature }) => signature.id)].flatMap(([signatureId, ofSignature]) => {
    const taken = new Set<string>();
    return episodesOf(ofSignature, runs).flatMap((episode, index) => {
      const [first] = episode;
      if (!first) return [];
      const { signature } = first;
      const times = episode.map(({ failedAt }) => failedAt);
      const beganAt = leastOf(times);
      const stored = storedNode(knownOf.get(signatureId) ?? [], taken, [beganAt, -leastOf(times.map((at) => -at))]);
      const id = stored?.id ?? nodeId(repositoryId, signatureId, index === 0 ? '' : first.run);
      taken.add(id);
      return [
        { id, signature, firstAt: Math.min(beganAt, stored?.firstAt ?? Number.POSITIVE_INFINITY), failures: episode },
      ];
    });
  });
  return nodes.sort((one, other) => one.firstAt - other.firstAt || compareText(one.id, other.id));
}

/** Without spreading: there may be a hundred thousand. */
const leastOf = (numbers: readonly number[]): number =>
  numbers.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);

const nodeId = (repositoryId: string, signatureId: string, run: string): string =>
  uuid5(JSON.stringify(['node', CAUSE_VERSION, signatureId, run]), repositoryId);

/** The node that had this episode: the last that began before it or, of those that began in it, the first. */
function storedNode(
  known: readonly KnownNode[],
  taken: ReadonlySet<string>,
  [firstAt, lastAt]: [number, number],
): KnownNode | undefined {
  const free = known.filter(({ id, firstAt: at }) => !taken.has(id) && at <= lastAt);
  const before = free.filter((node) => node.firstAt <= firstAt).sort((a, b) => b.firstAt - a.firstAt);
  return before[0] ?? free.sort((a, b) => a.firstAt - b.firstAt)[0];
}

/**
 * A signature that was away for long and comes back with fewer than half of the returning run's tests known begins another
 * episode: the same message for another reason.
 */
function episodesOf<F extends FailedInRun>(failures: readonly F[], runs: ReadonlyMap<string, Run>): F[][] {
  const ordered = [...Map.groupBy(failures, ({ run }) => run)]
    .map(([key, ofRun]) => ({ run: runs.get(key) ?? { key, at: 0 }, failures: ofRun }))
    .sort((one, other) => compareRuns(one.run, other.run));
  const episodes: F[][] = [];
  const tests = new Set<string>();
  let lastAt = Number.NEGATIVE_INFINITY;
  for (const { run, failures: ofRun } of ordered) {
    const now = new Set(ofRun.map(({ testId }) => testId));
    const isOther = run.at - lastAt > AWAY_MS && now.intersection(tests).size * 2 < now.size;
    const current = episodes.at(-1);
    if (!current || isOther) episodes.push([...ofRun]);
    else current.push(...ofRun);
    for (const testId of now) tests.add(testId);
    lastAt = run.at;
  }
  return episodes;
}

/** The features by which groups of nodes are compared. */
interface Group {
  node: number;
  beganAt: number;
  firstRuns: string;
  frames: Set<string>;
  files: Set<string>;
  words: Set<string>;
}

/** Joins groups whose first runs are the same, if they are alike. */
function joinTogether(
  nodes: readonly Node[],
  runs: ReadonlyMap<string, Run>,
  { components, since }: { components: Components; since: number },
): void {
  const members = Map.groupBy(nodes.keys(), (index) => components.rootOf(index));
  const wordsBegan = new Map<string, number>();
  // Nodes are in the order in which they began.
  for (const { signature, firstAt } of nodes)
    for (const word of signature.words) if (!wordsBegan.has(word)) wordsBegan.set(word, firstAt);
  const groups = [...members].flatMap(
    ([root, indexes]) =>
      groupOf(
        root,
        indexes.flatMap((i) => nodes[i] ?? []),
        runs,
      ) ?? [],
  );
  for (const alike of Map.groupBy(groups, ({ firstRuns }) => firstRuns).values()) {
    const young = alike.filter(({ beganAt }) => beganAt >= since);
    if (young.length < 2) continue;
    const [framed, unframed] = [
      young.filter(({ frames }) => frames.size > 0),
      young.filter(({ frames }) => frames.size === 0),
    ];
    joinBy(framed, ({ frames }) => frames, components);
    if (unframed.length === 0) continue;
    const filesOf = ({ files }: Group) => (files.size <= FILES_MAX ? files : new Set<string>());
    const wordsOf = ({ words, beganAt }: Group) =>
      new Set([...words].filter((word) => (wordsBegan.get(word) ?? beganAt) > beganAt - NEW_WORD_MS));
    for (const traits of [filesOf, wordsOf]) joinBy(unframed, traits, components, framed);
  }
}

function groupOf(root: number, nodes: readonly Node[], runs: ReadonlyMap<string, Run>): Group | undefined {
  const failures = nodes.flatMap((node) => node.failures);
  const ordered = [...new Set(failures.map(({ run }) => run))].flatMap((key) => runs.get(key) ?? []).sort(compareRuns);
  const beganAt = leastOf(nodes.map(({ firstAt }) => firstAt));
  // If the first runs of a group have left, no one can say with which runs it began.
  if (ordered.length < FIRST_RUNS || (ordered[0]?.at ?? 0) > beganAt) return undefined;
  const telling = nodes.flatMap(({ signature }) => [...signature.words]);
  return {
    node: root,
    beganAt,
    firstRuns: JSON.stringify(ordered.slice(0, FIRST_RUNS).map(({ key }) => key)),
    frames: new Set(failures.flatMap(({ frames }) => frames)),
    files: new Set(failures.flatMap(({ file }) => (file === '' ? [] : [file]))),
    words: new Set(telling.filter(({ length }) => length >= SHARED_WORD_LENGTH_MIN)),
  };
}

/** Joins the groups that share a trait, and to them the others that share it. */
function joinBy(
  groups: readonly Group[],
  traitsOf: (group: Group) => ReadonlySet<string>,
  components: Components,
  others: readonly Group[] = [],
): void {
  const first = new Map<string, number>();
  for (const group of groups)
    for (const trait of traitsOf(group)) {
      const known = first.get(trait);
      if (known === undefined) first.set(trait, group.node);
      else components.join(known, group.node);
    }
  for (const group of others)
    for (const trait of traitsOf(group)) {
      const known = first.get(trait);
      if (known !== undefined) components.join(known, group.node);
    }
}

/** The oldest node names the cause. What was joined once stays joined, also when the failures that showed it have left. */
function nameCauses<F extends FailedInRun>(
  nodes: readonly Node<F>[],
  known: readonly KnownNode[],
  components: Components,
): { nodes: CauseNode<F>[]; gone: Map<string, string> } {
  const indexes = new Map(nodes.map(({ id }, index) => [id, index]));
  const gone = known.filter(({ id }) => !indexes.has(id));
  const all = components.grownBy(gone.length);
  gone.forEach(({ id }, i) => {
    indexes.set(id, nodes.length + i);
  });
  for (const { id, causeId } of known) {
    const [one, other] = [indexes.get(id), indexes.get(causeId)];
    if (one !== undefined && other !== undefined) all.join(one, other);
  }
  const oldest = new Map<number, { id: string; firstAt: number }>();
  [...nodes, ...gone].forEach((one, index) => {
    const root = all.rootOf(index);
    const best = oldest.get(root);
    if (!best || one.firstAt < best.firstAt || (one.firstAt === best.firstAt && one.id < best.id))
      oldest.set(root, one);
  });
  const causeOf = (index: number, id: string): string => oldest.get(all.rootOf(index))?.id ?? id;
  return {
    nodes: nodes.map((node, index) => ({ ...node, causeId: causeOf(index, node.id) })),
    gone: new Map(gone.map(({ id }, i) => [id, causeOf(nodes.length + i, id)])),
  };
}
