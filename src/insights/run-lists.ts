/** Pages of lists of runs. Those of a repository that wait at the same time, and read the same days, share a statement. */
import type { ClickHouse } from '../clickhouse/client.ts';
import { asLookUp, defineQuery } from '../clickhouse/query.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Window } from '../domain/window.ts';
import { AXIS_PARAMETERS, type AxisFilter, axisValues } from '../http/axis-filter.ts';
import { isShortened, wholeKey } from '../http/cursor.ts';
import type { PageRequest } from '../http/pages.ts';
import type { Repository } from '../postgres/repositories.ts';
import { RepositoryBatches } from './batches.ts';
import { byPlace } from './by-place.ts';
import { type RunRow, runRow } from './run-json.ts';

export type RunKey = [startedMs: number, pipeline: string, run: string, commit: string];

/** None: no filter. */
interface RunFilters {
  commits: readonly string[];
  pipelines: readonly string[];
  branches: readonly string[];
  axes: AxisFilter;
}
interface AskedRuns extends PageRequest<RunKey, Window> {
  filters: RunFilters;
}

const ofOne = {
  repository_id: 'UUID',
  start_ms: 'Int64',
  end_ms: 'Int64',
  commits: 'Array(String)',
  pipelines: 'Array(String)',
  branches: 'Array(String)',
  ...AXIS_PARAMETERS,
  is_first: 'Bool',
  key_ms: 'Int64',
  key_pipeline: 'String',
  key_run: 'String',
  key_commit: 'String',
  rows: 'UInt32',
} as const;
const ofSeveral = {
  ...ofOne,
  starts_ms: 'Array(Int64)',
  ends_ms: 'Array(Int64)',
  keys_ms: 'Array(Int64)',
  key_pipelines: 'Array(String)',
  key_runs: 'Array(String)',
  key_commits: 'Array(String)',
  commit_places: 'Array(UInt32)',
  commit_names: 'Array(String)',
  pipeline_places: 'Array(UInt32)',
  pipeline_names: 'Array(String)',
  branch_places: 'Array(UInt32)',
  branch_names: 'Array(String)',
  page_rows: 'UInt32',
} as const;
const rowOfList = runRow.extend({ place: runRow.shape.jobs });

// A list is newest first, so its next page lies backward in time.
const variants = { next: 'backward', previous: 'forward' } as const;
const one = {
  next: asLookUp(defineQuery('insights/runs', ofOne, runRow, variants.next)),
  previous: asLookUp(defineQuery('insights/runs', ofOne, runRow, variants.previous)),
};
const several = {
  next: asLookUp(defineQuery('insights/run_lists', ofSeveral, rowOfList, variants.next)),
  previous: asLookUp(defineQuery('insights/run_lists', ofSeveral, rowOfList, variants.previous)),
};

/** Each is compared with every run that the statement reads. */
const LISTS_MAX = 16;
/**
 * Length of all names together by which a list is filtered. A longer filter is read alone: each run is compared with each
 * name.
 */
const CHARACTERS_MAX = 500;
/** No run has this key: the first page lies beyond it. */
const BEFORE_ALL = {
  next: [Number.MAX_SAFE_INTEGER, '', '', ''],
  previous: [Number.MIN_SAFE_INTEGER, '', '', ''],
} as const satisfies Record<string, RunKey>;
const ALL_ROWS = 2 ** 32 - 1;
/** Runs that began in the same millisecond, at most. */
const TOGETHER_MAX = 1_000;

type Of = Pick<Repository, 'id' | 'owner'>;

export class RunLists {
  readonly #clickhouse: ClickHouse;
  readonly #lists: RepositoryBatches<AskedRuns, RunRow[]>;

  constructor(clickhouse: ClickHouse) {
    this.#clickhouse = clickhouse;
    this.#lists = new RepositoryBatches(
      (repository) => async (take, signal) => {
        const asked = take();
        const [first] = asked;
        if (!first) return [];
        if (asked.length === 1) return [await this.#alone(repository, first, signal)];
        const { id, owner } = repository;
        const rows = await clickhouse.select(several[first.direction], valuesOfSeveral(id, asked), { owner, signal });
        return byPlace(rows);
      },
      { sizeMax: LISTS_MAX, kindOf },
    );
  }

  /** Up to `perPage` + 1 runs beyond the key, nearest first. */
  async page(repository: Of, page: AskedRuns, signal?: AbortSignal): Promise<RunRow[]> {
    const asked = { ...page, key: page.key && (await this.#wholeKey(repository, page, page.key, signal)) };
    if (charactersOf(asked.filters) > CHARACTERS_MAX) return this.#alone(repository, asked, signal);
    const rows = await this.#lists.get(repository, asked, signal);
    return rows?.slice(0, asked.perPage + 1) ?? [];
  }

  /** The key of a cursor with its names whole: those of the runs that began in its millisecond. */
  async #wholeKey(
    repository: Of,
    { filters: { axes } }: AskedRuns,
    key: RunKey,
    signal?: AbortSignal,
  ): Promise<RunKey> {
    if (!key.some(isShortened)) return key;
    const [startedMs] = key;
    const window = { start: startedMs, end: startedMs + 1 };
    const filters = { commits: [], pipelines: [], branches: [], axes };
    const page = { direction: 'next', key: null, perPage: TOGETHER_MAX, window, filters } as const;
    const runs = await this.#alone(repository, page, signal);
    return wholeKey(
      key,
      runs.flatMap((run) => [run.pipeline_name, run.run_id, run.commit_sha]),
    );
  }

  #alone({ id, owner }: Of, asked: AskedRuns, signal?: AbortSignal): Promise<RunRow[]> {
    return this.#clickhouse.select(one[asked.direction], valuesOfOne(id, asked), { owner, signal });
  }
}

const charactersOf = ({ commits, pipelines, branches, axes }: RunFilters): number =>
  [...commits, ...pipelines, ...branches, ...axes].join('').length;

/** Lists of one kind read the same rows, whether together or alone, so that none waits for what only others read. */
const kindOf = ({ direction, window: { start, end }, filters: { commits, axes } }: AskedRuns): string =>
  JSON.stringify([direction, Math.floor(start / DAY_MS), Math.floor(end / DAY_MS), commits.length > 0, axes]);

function valuesOfOne(repositoryId: string, { window, filters, key, perPage }: AskedRuns) {
  const { axes, ...names } = filters;
  const [keyMs, keyPipeline, keyRun, keyCommit] = key ?? [0, '', '', ''];
  return {
    repository_id: repositoryId,
    start_ms: window.start,
    end_ms: window.end,
    ...names,
    ...axisValues(axes),
    is_first: key === null,
    key_ms: keyMs,
    key_pipeline: keyPipeline,
    key_run: keyRun,
    key_commit: keyCommit,
    rows: perPage + 1,
  };
}

function valuesOfSeveral(repositoryId: string, asked: readonly AskedRuns[]) {
  const starts = asked.map(({ window }) => window.start);
  const ends = asked.map(({ window }) => window.end);
  const keys = asked.map(({ key, direction }) => key ?? BEFORE_ALL[direction]);
  const commits = pairsOf(asked, ({ commits }) => commits);
  const pipelines = pairsOf(asked, (filters) => filters.pipelines);
  const branches = pairsOf(asked, (filters) => filters.branches);
  return {
    ...valuesOfOne(repositoryId, {
      direction: 'next',
      key: null,
      perPage: ALL_ROWS - 1,
      window: { start: Math.min(...starts), end: Math.max(...ends) },
      filters: {
        commits: commits.common,
        pipelines: pipelines.common,
        branches: branches.common,
        axes: asked[0]?.filters.axes ?? [],
      },
    }),
    starts_ms: starts,
    ends_ms: ends,
    keys_ms: keys.map(([ms]) => ms),
    key_pipelines: keys.map(([, pipeline]) => pipeline),
    key_runs: keys.map(([, , run]) => run),
    key_commits: keys.map(([, , , commit]) => commit),
    commit_places: commits.places,
    commit_names: commits.names,
    pipeline_places: pipelines.places,
    pipeline_names: pipelines.names,
    branch_places: branches.places,
    branch_names: branches.names,
    page_rows: Math.max(...asked.map(({ perPage }) => perPage)) + 1,
  };
}

/** The names of a filter, each with the place of its list, and what any list may show if each has this filter. */
function pairsOf(asked: readonly AskedRuns[], namesOf: (filters: RunFilters) => readonly string[]) {
  const lists = asked.map(({ filters }) => namesOf(filters));
  const names = lists.flat();
  return {
    places: lists.flatMap((list, i) => list.map(() => i + 1)),
    names,
    common: lists.every(({ length }) => length > 0) ? [...new Set(names)] : [],
  };
}
