/** What the reads of a repository and of a test have in common: their paths below `/v1`, and how many rows they ask for. */
import { pathOf } from './client.ts';

export interface RepositoryPath {
  owner: string;
  repository: string;
}

export interface TestPath extends RepositoryPath {
  testId: string;
}

export interface TimeWindow {
  start: string;
  end: string;
}

export const insights = ({ owner, repository }: RepositoryPath): string =>
  pathOf`/ci/${owner}/repositories/${repository}`;

export const test = (path: TestPath): string => `${insights(path)}${pathOf`/tests/${path.testId}`}`;

export const PAGE_ROWS = 100;

/** Rows asked for where each takes the service more than a lookup. */
export const LINES = 30;
